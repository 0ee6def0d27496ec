// Node-API glue of the frame loop: create(frames, table, counters, now), setAddresses(loop, device, columns, buckets), wait(loop,
// poller, milliseconds), and `layout`, the numbers of frame_loop.h by which JavaScript sees that it means the same.

#include <node_api.h>
#include <stdlib.h>

#include "frame_loop.h"

// A loop, and what keeps the memory that it uses.
typedef struct {
  fl_loop *loop;
  napi_ref memory[3];
  napi_ref addresses[FL_DEVICES];
} holder;

#define TRY(call)                                     \
  do {                                                \
    if ((call) != napi_ok) {                          \
      napi_throw_error(env, NULL, "frame loop: " #call); \
      return NULL;                                    \
    }                                                 \
  } while (0)

#define REQUIRE(condition)                                     \
  do {                                                         \
    if (!(condition)) {                                        \
      napi_throw_type_error(env, NULL, "frame loop: " #condition); \
      return NULL;                                             \
    }                                                          \
  } while (0)

static const napi_type_tag TAG = {0x6c61627769726531, 0x6672616d656c6f6f};

static void finalize(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  // References end with their environment, and no one else has this object any more.
  holder *held = data;
  fl_destroy(held->loop);
  free(held);
}

static holder *held_by(napi_env env, napi_value value) {
  bool tagged = false;
  void *data = NULL;
  napi_valuetype type;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_external) return NULL;
  if (napi_check_object_type_tag(env, value, &TAG, &tagged) != napi_ok || !tagged) return NULL;
  return napi_get_value_external(env, value, &data) == napi_ok ? data : NULL;
}

/** The memory of an ArrayBuffer with at least so many bytes; NULL when it is none. */
static void *memory_of(napi_env env, napi_value value, size_t least, size_t *length) {
  bool is_buffer = false;
  void *data = NULL;
  if (napi_is_arraybuffer(env, value, &is_buffer) != napi_ok || !is_buffer) return NULL;
  if (napi_get_arraybuffer_info(env, value, &data, length) != napi_ok || *length < least) return NULL;
  return data;
}

static napi_value create(napi_env env, napi_callback_info info) {
  napi_value values[4];
  size_t count = 4, length;
  double now;
  TRY(napi_get_cb_info(env, info, &count, values, NULL, NULL));
  REQUIRE(count == 4);
  // Node's own pieces of memory are views of larger ones: the frames come as bytes.
  bool is_view = false;
  void *frames = NULL;
  TRY(napi_is_typedarray(env, values[0], &is_view));
  REQUIRE(is_view);
  napi_typedarray_type type;
  TRY(napi_get_typedarray_info(env, values[0], &type, &length, &frames, NULL, NULL));
  REQUIRE(type == napi_uint8_array && length >= (size_t)FL_SLOTS * FL_SLOT_BYTES);
  void *table = memory_of(env, values[1], FL_TABLE_WORDS * sizeof(int32_t), &length);
  REQUIRE(table != NULL);
  void *counters = memory_of(env, values[2], FL_COUNTERS * sizeof(double), &length);
  REQUIRE(counters != NULL);
  TRY(napi_get_value_double(env, values[3], &now));
  holder *held = calloc(1, sizeof *held);
  REQUIRE(held != NULL);
  held->loop = fl_create(frames, table, counters, now);
  napi_value result;
  if (held->loop == NULL || napi_create_external(env, held, finalize, NULL, &result) != napi_ok) {
    finalize(env, held, NULL);
    REQUIRE(!"memory");
  }
  TRY(napi_type_tag_object(env, result, &TAG));
  for (int nth = 0; nth < 3; nth++) TRY(napi_create_reference(env, values[nth], 1, &held->memory[nth]));
  return result;
}

static napi_value set_addresses(napi_env env, napi_callback_info info) {
  napi_value values[4];
  size_t count = 4, length = 0;
  int32_t device;
  uint32_t buckets;
  TRY(napi_get_cb_info(env, info, &count, values, NULL, NULL));
  REQUIRE(count == 4);
  holder *held = held_by(env, values[0]);
  REQUIRE(held != NULL);
  TRY(napi_get_value_int32(env, values[1], &device));
  REQUIRE(device >= 0 && device < FL_DEVICES);
  TRY(napi_get_value_uint32(env, values[3], &buckets));
  void *columns = buckets == 0 ? NULL : memory_of(env, values[2], 1, &length);
  REQUIRE(buckets == 0 || columns != NULL);
  // The old table is let go of only when the loop does not read it any more.
  REQUIRE(fl_set_addresses(held->loop, device, columns, length, buckets) == 0);
  if (held->addresses[device] != NULL) TRY(napi_delete_reference(env, held->addresses[device]));
  held->addresses[device] = NULL;
  if (columns != NULL) TRY(napi_create_reference(env, values[2], 1, &held->addresses[device]));
  return NULL;
}

static napi_value wait_for(napi_env env, napi_callback_info info) {
  napi_value values[3], result;
  size_t count = 3;
  int32_t poller;
  double milliseconds;
  TRY(napi_get_cb_info(env, info, &count, values, NULL, NULL));
  REQUIRE(count == 3);
  holder *held = held_by(env, values[0]);
  REQUIRE(held != NULL);
  TRY(napi_get_value_int32(env, values[1], &poller));
  TRY(napi_get_value_double(env, values[2], &milliseconds));
  REQUIRE(milliseconds == milliseconds);
  TRY(napi_create_int32(env, fl_wait(held->loop, poller, milliseconds), &result));
  return result;
}

static const int32_t LAYOUT[] = {
    FL_SLOTS,       FL_SLOT_BYTES,   FL_EVENTS,         FL_DESCRIPTORS, FL_ENDPOINTS, FL_LEGS,   FL_DEVICES,
    FL_SEATS,       FL_COUNTERS,     FL_MOST_BUCKETS,   FL_READY,       FL_LENGTHS,   FL_SEGMENTS, FL_SOCKETS,
    FL_ENDPOINT,    FL_LEG,          FL_DEVICE,         FL_DEVICE_WORDS, FL_TABLE_WORDS, FL_BUCKET_BYTES,
};

NAPI_MODULE_INIT() {
  const napi_property_descriptor functions[] = {
      {"create", NULL, create, NULL, NULL, NULL, napi_enumerable, NULL},
      {"setAddresses", NULL, set_addresses, NULL, NULL, NULL, napi_enumerable, NULL},
      {"wait", NULL, wait_for, NULL, NULL, NULL, napi_enumerable, NULL},
  };
  TRY(napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions));
  napi_value layout, number;
  TRY(napi_create_array(env, &layout));
  for (uint32_t nth = 0; nth < sizeof LAYOUT / sizeof *LAYOUT; nth++) {
    TRY(napi_create_int32(env, LAYOUT[nth], &number));
    TRY(napi_set_element(env, layout, nth, number));
  }
  TRY(napi_set_named_property(env, exports, "layout", layout));
  return exports;
}
