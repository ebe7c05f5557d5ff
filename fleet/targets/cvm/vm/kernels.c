/* The compiled kernels: a shared object, or linked into the program. */
#include "vm.h"

#include <string.h>

#ifdef FLEET_STATIC_KERNELS

extern const Kernel fleet_kernels[];
extern const int64_t fleet_kernel_count, fleet_kernels_version;
extern int64_t fleet_fault[3];

KernelTable kernels_open(const char *path) {
    (void)path;
    if (fleet_kernels_version != KERNELS_VERSION) {
        fail("kernels of version %lld, this program calls version %d", (long long)fleet_kernels_version, KERNELS_VERSION);
    }
    KernelTable found = {fleet_kernels, fleet_kernel_count, fleet_fault};
    return found;
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
    text_word(&name, strchr(path, '/') == NULL ? "./" : "");
    text_word(&name, path);
    void *library = dlopen(name.data, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        fail("the kernels cannot be loaded: %s", shown(why == NULL ? "" : why));
    }
    int64_t version = *(const int64_t *)symbol(library, "fleet_kernels_version");
    if (version != KERNELS_VERSION) {
        fail("kernels of version %lld, this program calls version %d", (long long)version, KERNELS_VERSION);
    }
    KernelTable found = {symbol(library, "fleet_kernels"), *(const int64_t *)symbol(library, "fleet_kernel_count"),
                         symbol(library, "fleet_fault")};
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
    for (high = low; high < table->count && strcmp(table->kernels[high].hint, hint) == 0; high++) {
    }
    *count = (size_t)(high - low);
    return table->kernels + low;
}
