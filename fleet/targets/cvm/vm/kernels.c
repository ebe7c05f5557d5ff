/* The compiled kernels: a shared object, or linked into the program. */
#include "vm.h"

static void check_version(int64_t version) {
    if (version == KERNELS_VERSION) return;
    fail("kernels of version %lld, this program calls version %d", (long long)version, KERNELS_VERSION);
}

#ifdef FLEET_STATIC_KERNELS

extern const Kernel fleet_kernels[];
extern const int64_t fleet_kernel_count, fleet_kernels_version;
extern int64_t fleet_fault[3];

KernelTable kernels_open(const char *path) {
    (void)path;
    check_version(fleet_kernels_version);
    return (KernelTable){fleet_kernels, fleet_kernel_count, fleet_fault};
}

#else

#include <dlfcn.h>

static const void *symbol(void *library, const char *name) {
    const void *found = dlsym(library, name);
    if (found == NULL) fail("a shared object without %s: not kernels that fleet compiled", name);
    return found;
}

KernelTable kernels_open(const char *path) {
    Text name = {NULL, 0, 0};
    set_place("%s", shown(path));
    text_printf(&name, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    void *library = dlopen(name.data, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail("the kernels cannot be loaded: %s", shown(dlerror()));
    check_version(*(const int64_t *)symbol(library, "fleet_kernels_version"));
    const int64_t *count = symbol(library, "fleet_kernel_count");
    KernelTable found = {symbol(library, "fleet_kernels"), *count, symbol(library, "fleet_fault")};
    set_place(NULL);
    return found;
}

#endif

const Kernel *kernels_of(const KernelTable *table, const char *hint, size_t *count) {
    int64_t low = 0, high = table->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (strcmp(table->kernels[middle].hint, hint) < 0) low = middle + 1;
        else high = middle;
    }
    while (high < table->count && strcmp(table->kernels[high].hint, hint) == 0) high++;
    *count = (size_t)(high - low);
    return table->kernels + low;
}
