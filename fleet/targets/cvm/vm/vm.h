/* fleet-vm: runs fleet's bytecode with kernels that were compiled ahead of time.
 *
 * A file is untrusted; kernels are trusted. The process ends with exit code 2 and one line for whatever is not well formed, so no
 * function here returns an error. C11, libc and libm.
 */
#ifndef FLEET_VM_H
#define FLEET_VM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 64, ALIGNMENT = 64, MAX_OPERANDS = 4096 };

/* ---- error.c */
#if defined(__GNUC__)
#define PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define PRINTF(a, b)
#endif
/* Ends the process with one line: what is wrong. */
_Noreturn void fail(const char *format, ...) PRINTF(1, 2);
/* The place that `fail` names, NULL for none: a file, an offset of the code, an operation. */
void set_place(const char *format, ...) PRINTF(1, 2);
void *allocate(size_t bytes);
void *allocate_array(size_t count, size_t size);
/* Room for one item more, doubling; returns the array. */
void *grow(void *array, size_t count, size_t *room, size_t size);
/* Text with what a terminal would act on replaced; valid until the fourth call from now. */
const char *shown(const char *text);

/* ---- text.c */
typedef struct { char *data; size_t length, room; } Text;
void text_add(Text *text, const char *data, size_t length);
void text_word(Text *text, const char *word);
void text_fill(Text *text, char c, size_t count);
void text_printf(Text *text, const char *format, ...) PRINTF(2, 3);
/* Characters of UTF-8 text. */
size_t characters(const char *data, size_t length);
/* Text that is read from front to back. */
typedef struct { const char *at, *end; } Reader;
char peek(const Reader *reader); /* 0 at the end */
bool read_word(Reader *reader, const char *expected);
void read_blanks(Reader *reader);
/* All digits that follow; false if the number is beyond 64 bits. */
bool read_integer(Reader *reader, bool negative, int64_t *found);
/* The same of a size: INT64_MAX if it is beyond them, -1 without a digit. */
int64_t read_size(Reader *reader);
/* -1: none */
int hex_digit(char c);

/* ---- sha256.c */
void sha256(const uint8_t *data, size_t length, uint8_t digest[32]);

/* ---- json.c */
/* What JSON, a constant or a word of a hint says. */
typedef enum { NOTHING, TRUTH, INTEGER, REAL, TEXT, LIST, OBJECT, ARRAY } DatumKind;
typedef struct Datum {
    DatumKind kind;
    int64_t integer; /* of TRUTH 0 or 1 */
    double real;
    const char *text;          /* UTF-8 without zero bytes */
    const struct Datum *items; /* of LIST its items; of OBJECT name, value, name, value ... */
    size_t count;              /* items of a list, pairs of an object */
    const struct Array *array; /* of a constant */
} Datum;
Datum json_parse(const char *data, size_t length);
/* NULL: there is no such field. */
const Datum *json_field(const Datum *object, const char *name);

/* ---- types.c */
typedef enum { F16, F32, F64, BOOL, I8, I16, I32, I64, U8, U16, U32, U64 } Dtype;
typedef struct {
    const char *numpy, *hint, *npy;
    size_t size;
    int code; /* the bytecode's type code */
} DtypeInfo;
extern const DtypeInfo DTYPES[];
enum { DTYPE_COUNT = U64 + 1 };
/* A dtype and a shape. There is one object for each: equal types are the same pointer. */
typedef struct Type {
    Dtype dtype;
    int rank;
    const int64_t *dims;
    int64_t count; /* elements */
    size_t bytes;
    struct Type *next;
    const struct Layout *dense;
} Type;
/* A type and steps in elements, one object for each; a dimension of less than two elements has the step 0. */
typedef struct Layout {
    const Type *type;
    const int64_t *strides;
    bool dense; /* C-contiguous */
    struct Layout *next;
} Layout;
const Type *type_of(Dtype dtype, int rank, const int64_t *dims);
const Layout *layout_of(const Type *type, const int64_t *strides);
/* "16x768xf32"; false if it is no type, or one with unknown dimensions. */
bool type_parse(const char *text, size_t length, const Type **found);
/* By its name, by its code in bytecode; -1: none. */
int dtype_named(const char *numpy);
int dtype_coded(int64_t code);
const char *type_words(const Type *type);

/* ---- value.c */
typedef struct Buffer {
    int64_t references;
    size_t bytes;
    struct Buffer *next; /* of those that are free */
} Buffer;
typedef struct {
    const Layout *layout; /* NULL: nothing */
    Buffer *buffer;       /* what holds the memory; NULL for what lives as long as the process */
    char *data;           /* the first element */
} Value;
Value value_new(const Type *type);
/* All elements are this one. */
Value value_filled(const Type *type, const char *element);
Value value_number(Dtype dtype, int64_t integer, double real);
void value_release(Value *value);
Value value_share(const Value *value);
/* Makes its elements C-contiguous. */
void value_densify(Value *value);
/* A number as another type of number; false if it does not hold it. */
bool value_converted(const Value *value, const Type *type, Value *found);
/* The same of an operand, in its place. */
void value_convert(Value *value, const Type *type, size_t operand);
double number_real(Dtype dtype, const char *data);
bool number_integer(Dtype dtype, const char *data, int64_t *found);
bool number_truth(Dtype dtype, const char *data);
size_t memory_peak(void);

/* ---- views.c */
typedef enum { VIEW_RESHAPE, VIEW_TRANSPOSE, VIEW_SLICE, VIEW_BROADCAST } ViewKind;
struct Hint;
/* The layout of the result of a movement and where it begins (elements from the operand's first), or NULL: it must be copied. */
const Layout *view_of(const struct Hint *hint, ViewKind kind, const Layout *source, int64_t *offset);

/* ---- hint.c */
typedef struct { const char *name; const Datum *words; size_t count; } Attribute;
typedef struct Hint {
    const char *text, *name;
    size_t count;
    const Type **types;
    const bool *numbers; /* whether an operand is a Python number */
    const Type *result;  /* NULL: none */
    bool number;
    const Attribute *attributes;
    size_t attribute_count;
} Hint;
Hint *hint_parse(const char *text);
const Attribute *hint_attribute(const Hint *hint, const char *name);

/* ---- module.c and container.c */
typedef struct Array { const Type *type; char *data; } Array;
typedef struct {
    const char *name;
    const Type *type;
    const Array *weight; /* NULL: an input */
} Argument;
typedef struct { const char *name; size_t slot; const Type *type; } Output;
typedef struct {
    Datum *constants;
    size_t constant_count;
    int64_t *code;
    size_t code_count;
    size_t slots;
    const char **invokes;
    size_t invoke_count;
    Argument *arguments;
    size_t argument_count;
    Output *outputs;
    size_t output_count;
} Module;
/* Reads a whole file's bytes, which stay where they are. */
Module *module_load(const uint8_t *data, size_t length);
Module *module_read(const Datum *header, const uint8_t *data, size_t length, size_t position);
const uint8_t *map_file(const char *path, size_t *length);

/* ---- kernels.c: the table that fleet's compiler writes into the shared object */
typedef struct {
    const int64_t *strides; /* steps in elements, as of a Layout; NULL: C-contiguous */
    int64_t known;          /* whether the operand must be the number with these bits */
    uint64_t bits;
} KernelOperand;
typedef struct {
    const char *hint;
    int64_t (*run)(void *const *arrays); /* result, operands, scratch; 0, or a fault */
    int64_t scratch;
    int64_t count;
    const KernelOperand *operands;
} Kernel;
enum { KERNELS_VERSION = 1 };
typedef struct {
    const Kernel *kernels; /* by hint, the most particular first */
    int64_t count;
    const int64_t *fault; /* kind, value, bound of the last one */
} KernelTable;
KernelTable kernels_open(const char *path);
/* The first kernel of a hint and how many there are. */
const Kernel *kernels_of(const KernelTable *table, const char *hint, size_t *count);

/* ---- flow.c, decode.c and liveness.c */
typedef enum { CALL_KERNEL, CALL_VIEW, CALL_SAME, CALL_PRINT } CallKind;
typedef struct {
    CallKind kind;
    const Hint *hint;
    const char *name; /* the operation's id, or NULL */
    size_t index;     /* of the invokestatic, in the order of the code */
    int64_t offset;
    ViewKind view;
    const struct PrintOptions *options; /* of CALL_PRINT */
    const Kernel *candidates;
    size_t candidate_count;
    const Value **constants; /* operands that are constants of the code */
    /* what the last call found: for operands laid out like this */
    const Layout **seen;
    const Kernel *kernel;
    const Layout *result;
    int64_t moved;
} Call;
typedef enum {
    STEP_CONSTANT, /* until it is decoded */
    STEP_PUSH, STEP_FILL, STEP_LOAD, STEP_TAKE, STEP_STORE, STEP_DROP, STEP_CALL, STEP_JUMP, STEP_IF
} StepKind;
typedef struct {
    StepKind kind;
    bool when;
    size_t index;   /* slot, constant, or step to go on at */
    int64_t offset; /* in the bytecode */
    Value value;    /* STEP_PUSH; of STEP_FILL one element */
    const Type *type;
    union {
        Call *call;
        const int64_t *dims; /* STEP_CONSTANT: of a tensor, behind their number and before its type code; NULL for a scalar */
    };
} Step;
typedef struct {
    Step *steps;
    size_t count, deepest; /* the deepest that the stack gets */
    int64_t *depths;       /* of the stack before each step; -1: nothing leads there */
    size_t *starts, start_count; /* numbers from 1 on of steps that do not always follow the one before; of others 0 */
} Code;
Code flow_of(const Module *module, const Hint **hints);
Code decode(const Module *module, const KernelTable *table);
void mark_last_uses(const Module *module, const Code *code);

/* ---- run.c */
typedef struct {
    const char *tensors; /* a folder for every operation's result, or NULL */
    int64_t max_steps;
} RunOptions;
typedef struct { int64_t steps, calls; } RunCounts;
/* Runs the code; slots hold the arguments, and the outputs at the end. */
RunCounts run(const Code *code, const KernelTable *table, Value *slots, const RunOptions *options);

/* ---- npy.c */
Value npy_read(const char *path, const Argument *argument);
void npy_write(const char *folder, size_t index, const char *name, const Value *value);

/* ---- floats.c */
typedef struct {
    char digits[768];
    int count;    /* digits, without zeros at the end; at least one */
    int exponent; /* of the first digit: 1.5 has 0 */
    bool negative;
} Decimal;
/* The shortest digits that give the number back; single: as a float32. */
Decimal shortest(double value, bool single);
/* As many digits behind the first one, without zeros at the end. */
Decimal rounded(double value, int places);
/* As NumPy writes numbers of arrays ("2.5", "3.", "1.e+10") with at most `places` digits behind the point, < 0: all of them. */
void positional(Text *text, double value, bool single, int places);
void scientific(Text *text, double value, bool single, int places);
/* "1.5e+10"; point: with a point behind a single digit, too. */
void exponential(Text *text, const Decimal *decimal, bool point);
/* str() of a number, Python's or NumPy's: they are written alike. */
void number_text(Text *text, Dtype dtype, const char *data);

/* ---- arrays.c: NumPy's str() and repr() */
typedef struct PrintOptions {
    int precision, edgeitems;
    int64_t threshold, linewidth;
    bool suppress;
    const char *nan, *infinity;
    char sign; /* '-', '+' or ' ' */
    enum { MODE_MAXPREC, MODE_FIXED, MODE_UNIQUE, MODE_MAXPREC_EQUAL } mode;
} PrintOptions;
extern const PrintOptions PRINT_DEFAULTS;
void value_text(Text *text, const Value *value, bool python, bool repr, const PrintOptions *options);

/* ---- format.c: Python's format() */
typedef struct {
    const char *fill; /* one character of UTF-8 */
    size_t fill_length;
    char align, sign, group, type; /* 0: not said */
    bool zero;
    int width, precision; /* -1: not said */
} Spec;
/* False for what Python refuses for a number or a text, and for "#", "z", "n", "c" and zeros with groups. */
bool spec_parse(Reader words, Spec *spec);
bool spec_fits(const Spec *spec, Dtype dtype);
void format_number(Text *text, Dtype dtype, const char *data, const Spec *spec);
void format_text(Text *text, const char *data, size_t length, const Spec *spec);

/* ---- print.c */
/* Ends the process if the print is none that this program can do. */
const PrintOptions *print_prepare(const Hint *hint);
void print_values(const Hint *hint, const PrintOptions *options, const Value *values);

#endif
