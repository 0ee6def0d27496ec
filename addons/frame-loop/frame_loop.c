// The plain hand-over of frames between UDP sockets, without entering JavaScript.
//
// JavaScript decides all: it writes into a table which way the frames of each socket take (a `leg`: through a cable, to a device in memory,
// out of it), and which of these ways are plain: without impairment, capture, or anything else that is to be looked at. Whatever is noted
// under an old generation, or not noted at all, goes to JavaScript, as do frames that a switch has yet to learn something from. A frame is
// either moved here as a whole or handed over as a whole, and behind one that is handed over nothing of its socket is moved.
//
// What is asked is mostly answered soon, and to be woken for the answer costs more than all the rest. So behind a frame that was answered
// soon of late, the loop looks for the answer for a moment before it sleeps; bounded, so that it never takes more than a small part of a core.
//
// Nothing is kept between two waits, so that the order of frames stays whatever changes: when the wait is over, all frames that were
// received here have been sent, dropped and counted, or handed over. Every number of the table is compared with its bounds before it is
// used: a wrong one sends a frame to the wrong place, but corrupts no memory.

#define _GNU_SOURCE
#include "frame_loop.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

// Devices behind one another, legs and sockets that one frame can reach here; more is for JavaScript.
enum { MOST_DEVICES = 4, MOST_LEGS = 64, MOST_TARGETS = 64 };
// Packets taken from one socket before the next one.
enum { MOST_PACKETS = 32 };
// The kernel's limits for frames that leave as one packet (UDP_MAX_SEGMENTS; a little less than an IPv4 packet).
enum { MOST_SEGMENTS = 64, MOST_RUN_BYTES = 65000 };
// An Ethernet header: two addresses and a type.
enum { HEADER_BYTES = 14, TYPE_AT = 12 };
static const double WINDOW_MILLISECONDS = 1000;
static const double FOREVER_MILLISECONDS = 1e12;
// Answers that come later are slept for.
static const double SOON_MILLISECONDS = 0.2;
// Of all time, and at a stretch, that may go into looking for answers.
static const double LOOKING_SHARE = 0.1, MOST_LOOKING_MILLISECONDS = 2;
// A frame's answer is looked for from the second trust on.
// After a look in vain, or one during which somebody else got this core: they are needed elsewhere, perhaps for the answer.
static const double BLIND_MILLISECONDS = 1000, INTERRUPTED_MILLISECONDS = 0.05;
enum { ENOUGH_TRUST = 2, MOST_TRUST = 3 };

typedef struct {
  uint32_t buckets;
  double *heard;
  const uint32_t *lows;
  const uint32_t *vlans;
  const uint32_t *seats;  // plus one; 0: the bucket is free
  const uint16_t *highs;
} addresses;

// Where a frame goes.
typedef struct {
  int32_t legs[MOST_LEGS];
  int32_t targets[MOST_TARGETS];
  double *heard[MOST_DEVICES];
  int leg_count;
  int target_count;
  int heard_count;
  bool by_header;  // whether the frame's header has decided
} route;

typedef struct {
  uint8_t *bytes;
  uint32_t length;
  uint32_t segment;  // length of each packet that lies in it, but for the last one; 0: it is one packet
} packet;

struct fl_loop {
  uint8_t *frames;
  int32_t *table;
  double *counters;
  double clock_offset;  // of JavaScript's clock to the system's
  double now;
  bool exact_waits;
  bool may_look;  // there is a core for others meanwhile
  int64_t asked;  // endpoint whose frame was moved last; -1: none
  double asked_at;
  double look_until;
  double blind_until;
  double looking_left;  // milliseconds that may still go into looking
  double looking_counted;  // when that was counted
  struct mmsghdr receive[FL_SLOTS];
  struct iovec receive_vectors[FL_SLOTS];
  union {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
  } receive_control[FL_SLOTS];
  packet packets[FL_SLOTS];
  struct mmsghdr send[MOST_PACKETS];
  struct iovec send_vectors[MOST_PACKETS];
  union {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
  } send_control[MOST_PACKETS];
  addresses switches[FL_DEVICES];
};

static double system_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

fl_loop *fl_create(uint8_t *frames, int32_t *table, double *counters, double now) {
  fl_loop *loop = calloc(1, sizeof *loop);
  if (loop == NULL) return NULL;
  loop->frames = frames;
  loop->table = table;
  loop->counters = counters;
  loop->clock_offset = now - system_milliseconds();
  loop->exact_waits = true;
  loop->asked = -1;
  cpu_set_t cores;
  loop->may_look = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 1;
  for (int slot = 0; slot < FL_SLOTS; slot++) {
    loop->receive_vectors[slot].iov_base = frames + (size_t)slot * FL_SLOT_BYTES;
    loop->receive_vectors[slot].iov_len = FL_SLOT_BYTES;
    struct msghdr *header = &loop->receive[slot].msg_hdr;
    header->msg_iov = &loop->receive_vectors[slot];
    header->msg_iovlen = 1;
    header->msg_control = loop->receive_control[slot].bytes;
  }
  return loop;
}

void fl_destroy(fl_loop *loop) { free(loop); }

int fl_set_addresses(fl_loop *loop, int32_t device, uint8_t *columns, size_t bytes, uint32_t buckets) {
  if (device < 0 || device >= FL_DEVICES) return -1;
  addresses *table = &loop->switches[device];
  memset(table, 0, sizeof *table);
  if (columns == NULL) return 0;
  bool power = buckets != 0 && (buckets & (buckets - 1)) == 0;
  if (!power || buckets > FL_MOST_BUCKETS || bytes < (size_t)buckets * FL_BUCKET_BYTES) return -1;
  if (((uintptr_t)columns & 7) != 0) return -1;
  table->heard = (double *)columns;
  table->lows = (uint32_t *)(columns + 8 * (size_t)buckets);
  table->vlans = table->lows + buckets;
  table->seats = table->vlans + buckets;
  table->highs = (uint16_t *)(table->seats + buckets);
  table->buckets = buckets;
  return 0;
}

static int32_t *endpoint_at(fl_loop *loop, int64_t index) {
  return index < 0 || index >= FL_ENDPOINTS ? NULL : loop->table + FL_ENDPOINT + (size_t)index * 8;
}

static int32_t *leg_at(fl_loop *loop, int64_t index) {
  return index < 0 || index >= FL_LEGS ? NULL : loop->table + FL_LEG + (size_t)index * 16;
}

static int32_t *device_at(fl_loop *loop, int32_t index) {
  return index < 0 || index >= FL_DEVICES ? NULL : loop->table + FL_DEVICE + (size_t)index * FL_DEVICE_WORDS;
}

/** `count` counters; NULL for none. */
static double *counters_at(fl_loop *loop, int32_t place, int count) {
  return place < 0 || place > FL_COUNTERS - count ? NULL : loop->counters + place;
}

/** The two words of a seat; NULL when there is no such seat. */
static int32_t *seat_at(int32_t *device, int64_t seat) {
  return seat < 0 || seat >= FL_SEATS || seat >= device[FL_DEVICE_SEATS] ? NULL : device + 8 + seat * 2;
}

static uint32_t word32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t word16(const uint8_t *bytes) { return (uint32_t)bytes[0] << 8 | bytes[1]; }

/** The bucket of an address, found as plane/mac-table.ts does; -1 for an address that is not there. */
static int64_t bucket_of(const addresses *table, uint32_t vlan, const uint8_t *address) {
  uint32_t high = word16(address), low = word32(address + 2);
  uint32_t mask = table->buckets - 1;
  uint32_t hash = (low ^ vlan * 0x9e3779b1u ^ high << 16) * 0x85ebca6bu;
  hash ^= hash >> 15;
  uint32_t bucket = hash & mask;
  for (uint32_t tried = 0; tried < table->buckets; tried++) {
    if (table->seats[bucket] == 0) return -1;
    if (table->lows[bucket] == low && table->highs[bucket] == high && table->vlans[bucket] == vlan) return bucket;
    bucket = (bucket + 1) & mask;
  }
  return -1;
}

static bool is_tag(uint32_t type) { return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200; }

static bool follow(fl_loop *loop, route *way, int64_t leg_index, int devices, const uint8_t *frame, uint32_t length);

static bool follow_switch(
    fl_loop *loop, route *way, int32_t index, int32_t *device, int64_t from, int devices, const uint8_t *frame, uint32_t length) {
  way->by_header = true;
  if (frame == NULL) return true;
  const addresses *table = &loop->switches[index];
  int32_t *seat = seat_at(device, from);
  if (table->buckets == 0 || seat == NULL || seat[1] < 0 || length < HEADER_BYTES) return false;
  // Groups are not learned and go to all; tags decide the VLAN.
  if ((frame[0] & 1) != 0 || (frame[6] & 1) != 0 || is_tag(word16(frame + TYPE_AT))) return false;
  uint32_t vlan = (uint32_t)seat[1];
  int64_t source = bucket_of(table, vlan, frame + 6);
  if (source < 0 || (int64_t)table->seats[source] - 1 != from) return false;
  int64_t target = bucket_of(table, vlan, frame);
  if (target < 0 || loop->now - table->heard[target] > device[FL_DEVICE_AGEING]) return false;
  int64_t to = (int64_t)table->seats[target] - 1;
  int32_t *out = seat_at(device, to);
  if (to == from || out == NULL || out[1] != seat[1] || way->heard_count == MOST_DEVICES) return false;
  way->heard[way->heard_count++] = &table->heard[source];
  return follow(loop, way, (int64_t)out[0] - 1, devices, frame, length);
}

static bool follow_hub(
    fl_loop *loop, route *way, int32_t *device, int64_t from, int devices, const uint8_t *frame, uint32_t length) {
  for (int64_t seat = 0; seat < FL_SEATS && seat < device[FL_DEVICE_SEATS]; seat++) {
    int64_t leg = device[8 + seat * 2];
    if (seat != from && leg != 0 && !follow(loop, way, leg - 1, devices, frame, length)) return false;
  }
  return true;
}

/** Finds the way of a frame; false when JavaScript has to. Without a frame `by_header` says whether one is needed. */
static bool follow(fl_loop *loop, route *way, int64_t leg_index, int devices, const uint8_t *frame, uint32_t length) {
  int32_t *leg = leg_at(loop, leg_index);
  if (leg == NULL || leg[FL_LEG_GENERATION] != loop->table[FL_GENERATION] || way->leg_count == MOST_LEGS) return false;
  way->legs[way->leg_count++] = (int32_t)leg_index;
  if (leg[FL_LEG_KIND] == FL_TO_NOWHERE) return true;
  if (leg[FL_LEG_KIND] == FL_TO_SOCKET) {
    if (endpoint_at(loop, leg[FL_LEG_END]) == NULL || way->target_count == MOST_TARGETS) return false;
    way->targets[way->target_count++] = leg[FL_LEG_END];
    return true;
  }
  if (leg[FL_LEG_KIND] != FL_TO_DEVICE || devices == MOST_DEVICES) return false;
  int32_t *device = device_at(loop, leg[FL_LEG_END]);
  if (device == NULL || device[FL_DEVICE_GENERATION] != loop->table[FL_GENERATION]) return false;
  if (device[FL_DEVICE_KIND] == FL_HUB) return follow_hub(loop, way, device, leg[FL_LEG_SEAT], devices + 1, frame, length);
  if (device[FL_DEVICE_KIND] != FL_SWITCH) return false;
  return follow_switch(loop, way, leg[FL_LEG_END], device, leg[FL_LEG_SEAT], devices + 1, frame, length);
}

static bool find(fl_loop *loop, route *way, int32_t leg, const uint8_t *frame, uint32_t length) {
  way->leg_count = way->target_count = way->heard_count = 0;
  way->by_header = false;
  return follow(loop, way, leg, 0, frame, length);
}

static uint32_t frames_in(const packet *from) {
  return from->segment == 0 ? 1 : (from->length + from->segment - 1) / from->segment;
}

/** Counts frames on their way, as plane/direction-counters.ts does. */
static void count(fl_loop *loop, const route *way, double frames, double bytes) {
  for (int nth = 0; nth < way->leg_count; nth++) {
    const int32_t *leg = leg_at(loop, way->legs[nth]);
    for (int part = 0; part < 2; part++) {
      double *direction = counters_at(loop, leg[FL_LEG_DIRECTIONS + part], FL_DIRECTION_COUNTERS);
      if (direction != NULL) {
        direction[FL_OFFERED_FRAMES] += frames;
        direction[FL_OFFERED_BYTES] += bytes;
        direction[FL_DELIVERED_FRAMES] += frames;
        direction[FL_DELIVERED_BYTES] += bytes;
        double past = loop->now - direction[FL_WINDOW_START];
        if (past >= WINDOW_MILLISECONDS) {
          direction[FL_RATE] = (direction[FL_DELIVERED_BYTES] - direction[FL_WINDOW_BYTES]) * 8 / past;
          direction[FL_WINDOW_START] = loop->now;
          direction[FL_WINDOW_BYTES] = direction[FL_DELIVERED_BYTES];
        }
      }
      double *traffic = counters_at(loop, leg[FL_LEG_TRAFFIC + part], FL_TRAFFIC_COUNTERS);
      if (traffic != NULL) {
        traffic[FL_FRAMES] += frames;
        traffic[FL_BYTES] += bytes;
      }
    }
    double *lost = counters_at(loop, leg[FL_LEG_LOST], 1);
    if (lost != NULL) *lost += frames;
  }
  for (int nth = 0; nth < way->heard_count; nth++) *way->heard[nth] = loop->now;
}

static void drop(fl_loop *loop, const int32_t *endpoint, int reason, double frames) {
  double *drops = counters_at(loop, endpoint[FL_ENDPOINT_DROPS], FL_DROP_COUNTERS);
  if (drops != NULL) drops[reason] += frames;
}

/** Counts a frame that was sent in fragments. */
static void count_fragmented(fl_loop *loop, const int32_t *endpoint, size_t length) {
  int32_t whole = endpoint[FL_ENDPOINT_WHOLE];
  if (whole > 0 && length > (size_t)whole) drop(loop, endpoint, FL_FRAGMENTED, 1);
}

/** Sends one frame. */
static void send_one(fl_loop *loop, const int32_t *endpoint, const void *bytes, size_t length) {
  bool refused = false;
  for (;;) {
    if (send(endpoint[FL_ENDPOINT_SOCKET], bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      count_fragmented(loop, endpoint, length);
      return;
    }
    if (errno == EINTR) continue;
    if (errno != ECONNREFUSED || refused) break;
    // The answer to an earlier packet, told once: this one has not been tried.
    refused = true;
  }
  drop(loop, endpoint, errno == EAGAIN ? FL_DROP_SEND_QUEUE : errno == EMSGSIZE ? FL_DROP_TOO_LONG : FL_DROP_SEND_FAILED, 1);
}

/** Sends packets of one length each by itself. */
static void send_cut(fl_loop *loop, const int32_t *endpoint, const uint8_t *bytes, size_t length, size_t segment) {
  for (size_t from = 0; from < length; from += segment)
    send_one(loop, endpoint, bytes + from, length - from < segment ? length - from : segment);
}

static uint32_t segment_of(const fl_loop *loop, int message) {
  if (loop->send[message].msg_hdr.msg_controllen == 0) return 0;
  uint16_t segment;
  memcpy(&segment, CMSG_DATA(&loop->send_control[message].align), sizeof segment);
  return segment;
}

static uint32_t frames_of(const fl_loop *loop, int message) {
  const struct msghdr *header = &loop->send[message].msg_hdr;
  uint32_t segment = segment_of(loop, message);
  if (segment == 0 || header->msg_iovlen > 1) return (uint32_t)header->msg_iovlen;
  return ((uint32_t)header->msg_iov[0].iov_len + segment - 1) / segment;
}

/** Sends the messages that are made. */
static void send_messages(fl_loop *loop, int32_t *endpoint, int messages) {
  bool refused = false;
  for (int next = 0; next < messages;) {
    int sent = sendmmsg(
        endpoint[FL_ENDPOINT_SOCKET], loop->send + next, (unsigned)(messages - next), MSG_DONTWAIT | MSG_NOSIGNAL);
    int error = errno;
    if (sent > 0) {
      // The kernel refuses runs of frames that it would have to fragment.
      for (int end = next + sent; next < end; next++)
        if (segment_of(loop, next) == 0) count_fragmented(loop, endpoint, loop->send[next].msg_hdr.msg_iov[0].iov_len);
      refused = false;
    } else if (error == ECONNREFUSED && !refused) {
      refused = true;
    } else if (error == EAGAIN) {
      for (; next < messages; next++) drop(loop, endpoint, FL_DROP_SEND_QUEUE, frames_of(loop, next));
    } else if (error != EINTR) {
      uint32_t segment = segment_of(loop, next);
      if (segment != 0 && (error == EINVAL || error == EMSGSIZE || error == EIO)) {
        // A packet with such a frame would have to be fragmented: these go one by one.
        endpoint[FL_ENDPOINT_LONGEST] = (int32_t)segment - 1;
        const struct msghdr *header = &loop->send[next].msg_hdr;
        for (size_t nth = 0; nth < header->msg_iovlen; nth++)
          send_cut(loop, endpoint, header->msg_iov[nth].iov_base, header->msg_iov[nth].iov_len, segment);
      } else {
        drop(loop, endpoint, error == EMSGSIZE ? FL_DROP_TOO_LONG : FL_DROP_SEND_FAILED, frames_of(loop, next));
      }
      next++;
      refused = false;
    }
  }
}

static void set_message(fl_loop *loop, int message, int vector, int vectors, uint32_t segment) {
  struct msghdr *header = &loop->send[message].msg_hdr;
  header->msg_iov = &loop->send_vectors[vector];
  header->msg_iovlen = (size_t)vectors;
  header->msg_control = segment == 0 ? NULL : loop->send_control[message].bytes;
  header->msg_controllen = segment == 0 ? 0 : CMSG_SPACE(sizeof(uint16_t));
  if (segment == 0) return;
  struct cmsghdr *control = &loop->send_control[message].align;
  control->cmsg_level = IPPROTO_UDP;
  control->cmsg_type = UDP_SEGMENT;
  control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
  uint16_t value = (uint16_t)segment;
  memcpy(CMSG_DATA(control), &value, sizeof value);
}

/** Sends packets to one socket: runs of one length as one packet for the kernel, which cuts it as late as it can. */
static void send_packets(fl_loop *loop, int32_t *endpoint, const packet *packets, int count) {
  if (count == 1 && packets[0].segment == 0) {
    send_one(loop, endpoint, packets[0].bytes, packets[0].length);
    return;
  }
  int messages = 0, vectors = 0;
  for (int nth = 0; nth < count; messages++) {
    const packet *first = &packets[nth];
    int64_t longest = endpoint[FL_ENDPOINT_LONGEST];
    if (first->segment != 0 && (first->segment > longest || first->length > MOST_RUN_BYTES || frames_in(first) > MOST_SEGMENTS)) {
      send_messages(loop, endpoint, messages);
      send_cut(loop, endpoint, first->bytes, first->length, first->segment);
      messages = -1;
      vectors = 0;
      nth++;
      continue;
    }
    int begin = vectors;
    uint32_t total = 0, size = first->length;
    do {
      const packet *next = &packets[nth++];
      loop->send_vectors[vectors].iov_base = next->bytes;
      loop->send_vectors[vectors++].iov_len = next->length;
      total += next->length;
      // The last one of a run may be shorter.
      if (first->segment != 0 || next->length < size || size > longest) break;
    } while (nth < count && packets[nth].segment == 0 && packets[nth].length <= size &&
             total + packets[nth].length <= MOST_RUN_BYTES);
    uint32_t segment = first->segment != 0 ? first->segment : vectors - begin > 1 ? size : 0;
    set_message(loop, messages, begin, vectors - begin, segment);
  }
  send_messages(loop, endpoint, messages);
}

static void send_all(fl_loop *loop, const route *way, const packet *packets, int amount) {
  double frames = 0, bytes = 0;
  for (int nth = 0; nth < amount; nth++) {
    frames += frames_in(&packets[nth]);
    bytes += packets[nth].length;
  }
  count(loop, way, frames, bytes);
  for (int nth = 0; nth < way->target_count; nth++)
    send_packets(loop, endpoint_at(loop, way->targets[nth]), packets, amount);
}

/** Whether both frames have the same addresses and the same type. */
static bool same_header(const uint8_t *one, const uint8_t *other) { return memcmp(one, other, HEADER_BYTES) == 0; }

/** Whether the header of the packet's first frame stands for all of them. */
static bool is_uniform(const packet *from) {
  if (from->length < HEADER_BYTES) return false;
  if (from->segment == 0) return true;
  for (uint32_t at = from->segment; at < from->length; at += from->segment)
    if (from->length - at < HEADER_BYTES || !same_header(from->bytes, from->bytes + at)) return false;
  return from->segment >= HEADER_BYTES;
}

/** Receives into the slots from 0 on; answers how many, 0 for none. */
static int receive(fl_loop *loop, int32_t *endpoint) {
  int batch = endpoint[FL_ENDPOINT_BATCH];
  if (batch < 1) batch = 1;
  if (batch > MOST_PACKETS) batch = MOST_PACKETS;
  for (int slot = 0; slot < batch; slot++)
    loop->receive[slot].msg_hdr.msg_controllen = sizeof loop->receive_control[slot].bytes;
  int received = recvmmsg(endpoint[FL_ENDPOINT_SOCKET], loop->receive, (unsigned)batch, MSG_DONTWAIT, NULL);
  // An error is no packet: nothing there, or the report (ECONNREFUSED) that the peer does not listen yet.
  if (received <= 0) return 0;
  endpoint[FL_ENDPOINT_BATCH] = received == batch ? batch * 2 : received;
  for (int slot = 0; slot < received; slot++) {
    packet *into = &loop->packets[slot];
    into->bytes = loop->receive_vectors[slot].iov_base;
    into->length = loop->receive[slot].msg_len;
    into->segment = 0;
    struct cmsghdr *control = CMSG_FIRSTHDR(&loop->receive[slot].msg_hdr);
    int segment = 0;
    if (control != NULL && control->cmsg_len >= CMSG_LEN(sizeof segment)) memcpy(&segment, CMSG_DATA(control), sizeof segment);
    if (segment > 0 && (uint32_t)segment < into->length) into->segment = (uint32_t)segment;
  }
  return received;
}

/** A frame of this endpoint was moved: what that says about the one before, and whether its own answer is to be looked for. */
static void expect_answer(fl_loop *loop, int32_t *endpoint, int64_t index, double now) {
  int32_t *asker = endpoint_at(loop, loop->asked);
  if (asker != NULL) {
    double past = now - loop->asked_at;
    if (loop->asked != index && past < SOON_MILLISECONDS) {
      if (asker[FL_ENDPOINT_TRUST] < MOST_TRUST) asker[FL_ENDPOINT_TRUST]++;
      asker[FL_ENDPOINT_ANSWER] = (int32_t)((asker[FL_ENDPOINT_ANSWER] * 3.0 + past * 1000) / 4);
    } else {
      asker[FL_ENDPOINT_TRUST] = 0;
    }
  }
  loop->asked = index;
  loop->asked_at = now;
  loop->look_until = 0;
  if (!loop->may_look || endpoint[FL_ENDPOINT_TRUST] < ENOUGH_TRUST) return;
  if (loop->looking_left <= 0 || now < loop->blind_until) return;
  double usual = endpoint[FL_ENDPOINT_ANSWER] / 1000.0 * 2 + 0.02;
  loop->look_until = now + (usual < SOON_MILLISECONDS ? usual : SOON_MILLISECONDS);
}

/** Whether to look instead of to sleep; counts what it takes. */
static bool looks(fl_loop *loop, double now) {
  double past = now - loop->looking_counted;
  loop->looking_counted = now;
  loop->looking_left += past * LOOKING_SHARE;
  if (loop->looking_left > MOST_LOOKING_MILLISECONDS) loop->looking_left = MOST_LOOKING_MILLISECONDS;
  return now < loop->look_until && now >= loop->blind_until;
}

/** Leaves the packets from `first` on to JavaScript. */
static void hand_over(fl_loop *loop, int32_t socket, int first, int end) {
  loop->table[FL_HANDED_SOCKET] = socket;
  loop->table[FL_HANDED_FIRST] = first;
  loop->table[FL_HANDED_COUNT] = end - first;
  for (int slot = first; slot < end; slot++) {
    loop->table[FL_LENGTHS + slot] = (int32_t)loop->packets[slot].length;
    loop->table[FL_SEGMENTS + slot] = (int32_t)loop->packets[slot].segment;
  }
}

/** Moves what a socket has received; false when JavaScript has to look at the socket itself. */
static bool move(fl_loop *loop, uint32_t socket) {
  if (socket >= FL_DESCRIPTORS) return false;
  int64_t index = (int64_t)loop->table[FL_SOCKETS + socket] - 1;
  int32_t *endpoint = endpoint_at(loop, index);
  if (endpoint == NULL || endpoint[FL_ENDPOINT_SOCKET] != (int32_t)socket) return false;
  route way;
  int32_t leg = endpoint[FL_ENDPOINT_LEG];
  if (!find(loop, &way, leg, NULL, 0)) return false;
  bool by_header = way.by_header;
  int received = receive(loop, endpoint);
  if (received > 0) expect_answer(loop, endpoint, index, loop->now - loop->clock_offset);
  for (int first = 0; first < received;) {
    const packet *packets = &loop->packets[first];
    int end = first;
    // Packets of no bytes are no frames.
    while (end < received && loop->packets[end].length > 0) {
      if (by_header && !is_uniform(&loop->packets[end])) break;
      if (by_header && !same_header(packets->bytes, loop->packets[end].bytes)) break;
      end++;
    }
    if (end == first || (by_header && !find(loop, &way, leg, packets->bytes, packets->length))) {
      hand_over(loop, (int32_t)socket, first, received);
      return true;
    }
    send_all(loop, &way, packets, end - first);
    first = end;
  }
  return true;
}

/** As epoll_wait, to the nanosecond where the kernel can. */
static int wait_for(fl_loop *loop, int poller, struct epoll_event *events, double milliseconds) {
  if (milliseconds < 0 || milliseconds > FOREVER_MILLISECONDS) return epoll_wait(poller, events, FL_EVENTS, -1);
  if (loop->exact_waits && milliseconds > 0) {
    double seconds = floor(milliseconds / 1e3);
    struct timespec time = {(time_t)seconds, (long)((milliseconds - seconds * 1e3) * 1e6)};
    long count = syscall(SYS_epoll_pwait2, poller, events, FL_EVENTS, &time, NULL, (size_t)8);
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)count;
    loop->exact_waits = false;
  }
  return epoll_wait(poller, events, FL_EVENTS, milliseconds > 86400e3 ? 86400000 : (int)ceil(milliseconds));
}

int fl_wait(fl_loop *loop, int poller, double milliseconds) {
  struct epoll_event events[FL_EVENTS];
  int32_t *table = loop->table;
  table[FL_HANDED_COUNT] = 0;
  bool ends = milliseconds >= 0;
  double end = ends ? system_milliseconds() + milliseconds : 0;
  double now = 0;
  bool looking = false;
  for (double left = milliseconds;;) {
    int count = wait_for(loop, poller, events, looking ? 0 : left);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    double before = now;
    now = system_milliseconds();
    if (looking) {
      loop->looking_left -= now - before;
      bool in_vain = count == 0 && now >= loop->look_until;
      if (in_vain || now - before > INTERRUPTED_MILLISECONDS) loop->blind_until = now + BLIND_MILLISECONDS;
      if (count == 0 && now < loop->look_until && now >= loop->blind_until && !(ends && now >= end)) continue;
    }
    loop->now = now + loop->clock_offset;
    int ready = 0;
    for (int nth = 0; nth < count; nth++) {
      uint32_t descriptor = events[nth].data.u32;
      // Behind packets that are handed over the slots are JavaScript's.
      if (table[FL_HANDED_COUNT] != 0 || !move(loop, descriptor)) table[FL_READY + ready++] = (int32_t)descriptor;
    }
    if ((count == 0 && !looking) || ready > 0 || table[FL_HANDED_COUNT] != 0) return ready;
    if (ends && now >= end) return 0;
    left = ends ? end - now : -1;
    looking = looks(loop, now);
  }
}
