/* The command: bytecode and kernels in, arrays and printed text out. */
#include "vm.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef FLEET_EMBEDDED_MODULE /* the bytecode is in the program: see app.c */
extern const uint8_t fleet_module[], fleet_module_end[];
static const char USAGE[] = "usage: %s [NAME=FILE.npy ...] [-o FOLDER] [--stats FILE] [--max-steps N]\n";
#else
static const char USAGE[] =
    "usage: %s MODEL.fbc KERNELS.so [NAME=FILE.npy ...] [-o FOLDER] [--tensors FOLDER] [--stats FILE] [--max-steps N]\n";
#endif

typedef struct {
    const char *module, *kernels, *outputs, *stats;
    RunOptions run;
    char **inputs;
    size_t input_count;
} Request;

static int64_t steps_of(const char *word) {
    Reader r = {word, word + strlen(word)};
    int64_t found = read_size(&r);
    if (r.at < r.end || found < 1 || found == INT64_MAX) fail("--max-steps %s: expected a positive number", shown(word));
    return found;
}

static Request parse(int count, char **words) {
    static const int64_t MAX_STEPS = 100000000;
    Request r = {.run = {NULL, MAX_STEPS}, .inputs = allocate_array((size_t)count, sizeof(char *))};
    const char *steps = NULL;
    const struct { const char *name, **value; } options[] = {
        {"-o", &r.outputs},    {"--outputs", &r.outputs},   {"--tensors", &r.run.tensors},
        {"--stats", &r.stats}, {"--max-steps", &steps},
    };
    for (int i = 1; i < count; i++) {
        const char *word = words[i], **value = NULL;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            printf(USAGE, shown(words[0]));
            exit(0);
        }
        if (word[0] == '-' && word[1] != 0) {
            if (i + 1 == count) fail("%s: its value is missing, or it is unknown", shown(word));
            for (size_t o = 0; o < sizeof options / sizeof *options; o++)
                if (strcmp(word, options[o].name) == 0) value = options[o].value;
            if (value == NULL) fail("%s: an unknown option", shown(word));
            *value = words[++i];
#ifndef FLEET_EMBEDDED_MODULE
        } else if (r.module == NULL) {
            r.module = word;
        } else if (r.kernels == NULL) {
            r.kernels = word;
#endif
        } else if (strchr(word, '=') != NULL) {
            r.inputs[r.input_count++] = words[i];
        } else {
            fail("%s: expected NAME=FILE.npy", shown(word));
        }
    }
    if (steps != NULL) r.run.max_steps = steps_of(steps);
    return r;
}

static Value *arguments(const Module *m, const Request *r) {
    Value *slots = allocate_array(m->slots + 1, sizeof *slots);
    const char *unknown = NULL;
    for (size_t n = 0; n < r->input_count; n++) {
        size_t i = 0, length = 0;
        for (; i < m->argument_count; i++) { /* names may have = themselves */
            length = strlen(m->arguments[i].name);
            bool named = strncmp(r->inputs[n], m->arguments[i].name, length) == 0 && r->inputs[n][length] == '=';
            if (named && m->arguments[i].weight == NULL && slots[i].layout == NULL) break;
        }
        if (i == m->argument_count) unknown = r->inputs[n];
        else slots[i] = npy_read(r->inputs[n] + length + 1, &m->arguments[i]);
    }
    for (size_t i = 0; i < m->argument_count; i++) {
        const Argument *argument = &m->arguments[i];
        const char *name = shown(argument->name);
        if (argument->weight != NULL) slots[i] = (Value){argument->type->dense, NULL, argument->weight->data};
        else if (slots[i].layout == NULL) fail("no input \"%s\" (%s): give %s=FILE.npy", name, type_words(argument->type), name);
    }
    if (unknown != NULL) fail("%s: the model has no input of that name", shown(unknown));
    return slots;
}

static void deliver(const Module *m, const Request *r, Value *slots) {
    for (size_t i = 0; i < m->output_count; i++) {
        const Output *output = &m->outputs[i];
        Value *value = &slots[output->slot], found;
        set_place("output \"%s\"", shown(output->name));
        if (value->layout == NULL) fail("it is in slot %zu, which nothing writes", output->slot);
        if (value->layout->type == output->type) {
            found = value_share(value);
        } else if (!value_converted(value, output->type, &found)) {
            fail("it is %s, expected %s", type_words(value->layout->type), type_words(output->type));
        }
        if (r->outputs != NULL) {
            npy_write(r->outputs, i, output->name, &found);
        } else {
            Text text = {NULL, 0, 0};
            value_text(&text, &found, false, false, &PRINT_DEFAULTS);
            printf("%s: %s\n%s\n", shown(output->name), type_words(output->type), text.data);
            free(text.data);
        }
        value_release(&found);
    }
    set_place(NULL);
}

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void write_stats(const Request *r, const Module *m, RunCounts counts, double took, double load) {
    if (r->stats == NULL) return;
    set_place("%s", shown(r->stats));
    FILE *file = fopen(r->stats, "w");
    if (file == NULL) fail("cannot be written (%s)", strerror(errno));
    fprintf(file, "{\"seconds\": %.9f, \"load_seconds\": %.9f, \"steps\": %lld, ", took, load, (long long)counts.steps);
    fprintf(file, "\"calls\": %lld, \"peak_bytes\": %zu, ", (long long)counts.calls, memory_peak());
    fprintf(file, "\"operations\": %zu}\n", m->invoke_count);
    if (fclose(file) != 0) fail("cannot be written (%s)", strerror(errno));
}

int main(int count, char **words) {
#ifdef __GLIBC__
    /* Results are made and freed all the time; pages that went back to the system would be cleared again. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    double begun = seconds();
    Request r = parse(count, words);
    size_t length = 0;
#ifdef FLEET_EMBEDDED_MODULE
    const uint8_t *data = fleet_module;
    length = (size_t)(fleet_module_end - fleet_module);
#else
    if (r.kernels == NULL) {
        fprintf(stderr, USAGE, shown(words[0]));
        return 2;
    }
    const uint8_t *data = map_file(r.module, &length);
#endif
    if (r.outputs != NULL && mkdir(r.outputs, 0777) != 0 && errno != EEXIST) {
        fail("%s: no folder can be made there (%s)", shown(r.outputs), strerror(errno));
    }
    Module *module = module_load(data, length);
    KernelTable table = kernels_open(r.kernels);
    set_place("%s", r.module == NULL ? "the module" : shown(r.module));
    Code code = decode(module, &table);
    Value *slots = arguments(module, &r);
    double started = seconds();
    RunCounts counts = run(&code, &table, slots, &r.run);
    double ended = seconds();
    deliver(module, &r, slots);
    if (fflush(stdout) != 0) fail("what it prints cannot be written");
    write_stats(&r, module, counts, ended - started, started - begun);
    return 0;
}
