// The plain hand-over of frames between UDP sockets, without entering JavaScript. See frame_loop.c.

#ifndef FRAME_LOOP_H
#define FRAME_LOOP_H

#include <stddef.h>
#include <stdint.h>

// Capacities. The memory that is shared with JavaScript is reserved for all of them; only what is touched costs memory.
enum {
  FL_SLOTS = 64,
  FL_SLOT_BYTES = 17 * 4096,
  FL_EVENTS = 16,
  FL_DESCRIPTORS = 1 << 16,
  FL_ENDPOINTS = 1 << 15,
  FL_LEGS = 1 << 15,
  FL_DEVICES = 1 << 12,
  FL_SEATS = 128,
  FL_COUNTERS = 1 << 20,
  FL_MOST_BUCKETS = 1 << 16,
};

// The table, in words of 32 bits: where its parts begin, and what stands in them.
enum {
  FL_GENERATION = 0,  // what is noted under another generation is out of date
  FL_HANDED_SOCKET = 1,  // whose packets lie in slots for JavaScript
  FL_HANDED_FIRST = 2,
  FL_HANDED_COUNT = 3,  // 0: none
  FL_READY = 16,  // descriptors that can be read
  FL_LENGTHS = 64,  // of the packets that are handed over, by slot
  FL_SEGMENTS = 128,  // of each of the packets that the kernel has put into one slot, or 0
  FL_SOCKETS = 256,  // by descriptor: endpoint + 1
  FL_ENDPOINT = FL_SOCKETS + FL_DESCRIPTORS,
  FL_LEG = FL_ENDPOINT + FL_ENDPOINTS * 8,
  FL_DEVICE = FL_LEG + FL_LEGS * 16,
  FL_DEVICE_WORDS = 8 + FL_SEATS * 2,
  FL_TABLE_WORDS = FL_DEVICE + FL_DEVICES * FL_DEVICE_WORDS,
};

// An endpoint: 8 words.
enum {
  FL_ENDPOINT_SOCKET = 0,
  FL_ENDPOINT_LEG = 1,  // of what it receives
  FL_ENDPOINT_LONGEST = 2,  // longest frame that the path takes in runs
  FL_ENDPOINT_BATCH = 3,  // packets to ask for the next time
  FL_ENDPOINT_DROPS = 4,  // its counters
  FL_ENDPOINT_TRUST = 5,  // how often of late its frames were answered soon
  FL_ENDPOINT_ANSWER = 6,  // microseconds until the answer
  FL_ENDPOINT_WHOLE = 7,  // longest frame that the path takes in one piece; 0: not known
};

// A leg, the way of a frame to a socket or a device: 16 words. Counters are places in the array of counters, or -1.
enum {
  FL_LEG_GENERATION = 0,
  FL_LEG_KIND = 1,
  FL_LEG_END = 2,  // endpoint or device
  FL_LEG_SEAT = 3,  // at the device
  FL_LEG_DIRECTIONS = 4,  // two of them
  FL_LEG_TRAFFIC = 6,  // two of them
  FL_LEG_LOST = 8,  // counts frames that get no further
};

enum { FL_TO_JAVASCRIPT = 0, FL_TO_SOCKET = 1, FL_TO_DEVICE = 2, FL_TO_NOWHERE = 3 };

// A device: 8 words, then two for each seat: its leg + 1 (0: nobody sits there) and its VLAN (-1: not for this loop).
enum { FL_DEVICE_GENERATION = 0, FL_DEVICE_KIND = 1, FL_DEVICE_SEATS = 2, FL_DEVICE_AGEING = 3 };
enum { FL_NO_DEVICE = 0, FL_HUB = 1, FL_SWITCH = 2 };

// Counters of a direction, of traffic, and of what an endpoint drops or sends in fragments.
enum {
  FL_OFFERED_FRAMES = 0,
  FL_OFFERED_BYTES = 1,
  FL_DELIVERED_FRAMES = 2,
  FL_DELIVERED_BYTES = 3,
  FL_WINDOW_START = 4,
  FL_WINDOW_BYTES = 5,
  FL_RATE = 6,
  FL_DIRECTION_COUNTERS = 7,
};
enum { FL_FRAMES = 0, FL_BYTES = 1, FL_TRAFFIC_COUNTERS = 2 };
enum { FL_DROP_SEND_QUEUE = 0, FL_DROP_TOO_LONG = 1, FL_DROP_SEND_FAILED = 2, FL_FRAGMENTED = 3, FL_DROP_COUNTERS = 4 };

// A switch's table of addresses, which JavaScript writes: columns behind one another, each for all buckets. 22 bytes a bucket.
enum { FL_BUCKET_BYTES = 22 };

typedef struct fl_loop fl_loop;

// `frames`: FL_SLOTS * FL_SLOT_BYTES bytes; `table`: FL_TABLE_WORDS words; `counters`: FL_COUNTERS numbers. They outlive the loop.
// `now` is the time on JavaScript's clock (performance.now()) at this moment, in ms. NULL without memory.
fl_loop *fl_create(uint8_t *frames, int32_t *table, double *counters, double now);
void fl_destroy(fl_loop *loop);

// Has the loop read the addresses of a switch: NULL for none. -1 when they cannot be such a table.
int fl_set_addresses(fl_loop *loop, int32_t device, uint8_t *columns, size_t bytes, uint32_t buckets);

// Waits for `milliseconds` (negative: for ever) for something that JavaScript has to do, and moves plain frames meanwhile. Answers the
// number of descriptors at FL_READY, or a negative errno. 0 when the time is over, after a signal, and when packets are handed over alone.
int fl_wait(fl_loop *loop, int poller, double milliseconds);

#endif
