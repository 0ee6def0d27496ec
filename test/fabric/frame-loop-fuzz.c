// Gives the native frame loop tables, addresses and packets that nobody would write: whatever stands there, it must touch no memory that
// is not its own, and end. Compiled with it by frame-loop-memory.test.ts, under the sanitizers. Takes a seed and a number of rounds.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame_loop.h"

enum { SOCKETS = 6, LEGS = 12, SOME_DEVICES = 4, BUCKETS = 16 };

static uint32_t state;

static uint32_t any(uint32_t most) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)state * most) >> 32);
}

/** Mostly a number that means something, else one that does not. */
static int32_t number(uint32_t most) {
  static const int32_t odd[] = {-1, -2, INT32_MIN, INT32_MAX, 127, 128, 32767, 32768, 4095, 4096, 1 << 20, (1 << 20) - 1, 65535};
  return any(8) != 0 ? (int32_t)any(most) : odd[any(sizeof odd / sizeof *odd)];
}

static int open_socket(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(descriptor, SOL_UDP, UDP_GRO, &on, sizeof on);
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) exit(2);
  return descriptor;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  state = (uint32_t)atoi(words[1]);
  // Of exactly the size that they must have: one byte more is seen.
  uint8_t *frames = malloc((size_t)FL_SLOTS * FL_SLOT_BYTES);
  int32_t *table = calloc(FL_TABLE_WORDS, sizeof *table);
  double *counters = calloc(FL_COUNTERS, sizeof *counters);
  fl_loop *loop = fl_create(frames, table, counters, 1000);
  uint8_t *columns = calloc(BUCKETS, FL_BUCKET_BYTES);
  int sockets[SOCKETS], poller = epoll_create1(0);
  struct sockaddr_in names[SOCKETS];
  for (int nth = 0; nth < SOCKETS; nth++) {
    socklen_t length = sizeof names[nth];
    sockets[nth] = open_socket();
    getsockname(sockets[nth], (struct sockaddr *)&names[nth], &length);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)sockets[nth]};
    epoll_ctl(poller, EPOLL_CTL_ADD, sockets[nth], &event);
  }
  for (int nth = 0; nth < SOCKETS; nth++)
    if (connect(sockets[nth], (struct sockaddr *)&names[nth ^ 1], sizeof names[nth]) != 0) return 2;
  long moved = 0, handed = 0;
  for (int round = atoi(words[2]); round > 0; round--) {
    table[FL_GENERATION] = (int32_t)any(3);
    for (int nth = 0; nth < SOCKETS; nth++) {
      table[FL_SOCKETS + sockets[nth]] = any(8) != 0 ? nth + 1 : number(SOCKETS);
      int32_t *endpoint = table + FL_ENDPOINT + nth * 8;
      endpoint[FL_ENDPOINT_SOCKET] = any(16) != 0 ? sockets[nth] : number(64);
      endpoint[FL_ENDPOINT_LEG] = number(LEGS);
      endpoint[FL_ENDPOINT_LONGEST] = any(2) != 0 ? 65535 : number(2000);
      endpoint[FL_ENDPOINT_BATCH] = number(40);
      endpoint[FL_ENDPOINT_DROPS] = number(100);
      endpoint[FL_ENDPOINT_TRUST] = number(4);
      endpoint[FL_ENDPOINT_ANSWER] = number(100);
    }
    for (int nth = 0; nth < LEGS; nth++) {
      int32_t *leg = table + FL_LEG + nth * 16;
      leg[FL_LEG_GENERATION] = any(8) != 0 ? table[FL_GENERATION] : number(3);
      leg[FL_LEG_KIND] = number(4);
      leg[FL_LEG_END] = number(SOCKETS);
      leg[FL_LEG_SEAT] = number(4);
      for (int place = FL_LEG_DIRECTIONS; place <= FL_LEG_LOST; place++) leg[place] = number(1000);
    }
    for (int nth = 0; nth < SOME_DEVICES; nth++) {
      int32_t *device = table + FL_DEVICE + nth * FL_DEVICE_WORDS;
      device[FL_DEVICE_GENERATION] = table[FL_GENERATION];
      device[FL_DEVICE_KIND] = number(3);
      device[FL_DEVICE_SEATS] = number(6);
      device[FL_DEVICE_AGEING] = number(100000);
      for (int seat = 0; seat < 6; seat++) {
        device[8 + seat * 2] = number(LEGS + 1);
        device[9 + seat * 2] = number(2);
      }
      uint32_t sizes[] = {0, 1, BUCKETS, BUCKETS - 1, BUCKETS * 2, UINT32_MAX};
      fl_set_addresses(loop, number(SOME_DEVICES), any(8) != 0 ? columns : NULL, (size_t)BUCKETS * FL_BUCKET_BYTES, sizes[any(6)]);
    }
    for (int nth = 0; nth < BUCKETS * FL_BUCKET_BYTES; nth++) columns[nth] = any(3) != 0 ? (uint8_t)any(4) : (uint8_t)any(256);
    uint8_t packet[3000];
    for (int sent = (int)any(40); sent > 0; sent--) {
      size_t length = any(4) != 0 ? any(100) : any(sizeof packet);
      for (size_t at = 0; at < length && at < 20; at++) packet[at] = (uint8_t)any(4);
      int from = sockets[any(SOCKETS)];
      uint16_t segment = any(3) == 0 ? (uint16_t)(1 + any(200)) : 0;
      setsockopt(from, SOL_UDP, UDP_SEGMENT, &(int){segment}, sizeof(int));
      if (send(from, packet, length, MSG_DONTWAIT) >= 0) moved++;
      setsockopt(from, SOL_UDP, UDP_SEGMENT, &(int){0}, sizeof(int));
    }
    // Frames may go in circles for ever in such a table: a descriptor of JavaScript's ends the wait.
    int wake = open_socket();
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = any(2) != 0 ? (uint32_t)wake : UINT32_MAX};
    epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    getsockname(wake, (struct sockaddr *)&name, &length);
    table[FL_SOCKETS + wake] = 0;
    sendto(wake, "x", 1, 0, (struct sockaddr *)&name, sizeof name);
    int ready = fl_wait(loop, poller, any(2) != 0 ? 0.2 : 0);
    if (ready > FL_EVENTS || ready < 0) return 3;
    if (table[FL_HANDED_COUNT] < 0 || table[FL_HANDED_FIRST] + table[FL_HANDED_COUNT] > FL_SLOTS) return 4;
    handed += table[FL_HANDED_COUNT];
    close(wake);
    if (any(4) == 0)
      for (int nth = 0; nth < SOCKETS; nth++) while (recv(sockets[nth], packet, sizeof packet, MSG_DONTWAIT) >= 0) {}
  }
  printf("%ld packets, %ld handed over\n", moved, handed);
  fl_destroy(loop);
  free(frames);
  free(table);
  free(counters);
  free(columns);
  return 0;
}
