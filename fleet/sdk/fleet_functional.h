/* A functional model in C or C++, as a shared library: what fleet.sdk.functional is for Python.
   The library exports the three functions at the end. No exception may leave them. */
#ifndef FLEET_FUNCTIONAL_H
#define FLEET_FUNCTIONAL_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* A signal and its value: the low 64 bits, and all of it, little-endian. Where fleet gets one, bytes may be 0: value counts. */
typedef struct {
  const char *name;
  uint64_t value;
  const uint8_t *bytes;
  uint32_t size;
} fleet_field;

/* What a test did at a port. kind: "write", "read", "send" or "set"; reg: name of the register or "". */
typedef struct {
  const char *kind;
  const char *port;
  const char *reg;
  uint64_t address;
  fleet_field data;
  const fleet_field *fields;
  uint32_t field_count;
} fleet_command;

/* A job. commit, queue: "" or 0 for none; tagged: whether tag counts; events: 0 is 1; after: numbers of jobs. */
typedef struct {
  const char *commit;
  int32_t tagged;
  uint64_t tag;
  uint32_t events;
  const char *queue;
  const int64_t *after;
  uint32_t after_count;
} fleet_job;

/* What a model may call inside fleet_model_command. job: its number, -1 after a mistake, which ends the run behind the command. */
typedef struct {
  int64_t (*job)(const fleet_job *job);
  void (*read)(const char *memory, uint64_t address, uint8_t *data, uint32_t size);
  void (*write)(const char *memory, uint64_t address, const uint8_t *data, uint32_t size);
  void (*give)(const char *port, const fleet_field *fields, uint32_t field_count);
  void (*expect)(uint64_t value, uint64_t mask);
} fleet_context;

/* A parameter of the top module, as adopt.toml gives it. */
typedef struct {
  const char *name;
  const char *value;
} fleet_parameter;

void *fleet_model_new(const fleet_parameter *parameters, uint32_t parameter_count);
void fleet_model_command(void *model, const fleet_command *command, const fleet_context *context);
void fleet_model_delete(void *model);

#ifdef __cplusplus
}
#endif
#endif
