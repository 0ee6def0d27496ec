// What the bench of single frames measures with, and what it measures against; all in C, so that nobody else's language is in the figures.
//
//   relay PORT PEER PORT PEER        two UDP sockets, a thread each: what one receives, the other sends (two such processes are a cable)
//   echo PORT PEER [PORT PEER ...]   sends back what comes
//   ping PAUSE COUNT PORT PEER [...] one frame at a time, each after PAUSE microseconds, to all in turn, COUNT times: prints the index
//                                    of the way and the nanoseconds of the round trip, -1 for a lost one
//   flood MILLISECONDS FROM TO AT BY sends from port FROM to port TO as fast as it goes, and prints how many frames arrive at port AT from
//                                    port BY
//
// All on 127.0.0.1. "echo" and "relay" print a line when they are ready.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 98, FLOOD_FRAME = 1000, BATCH = 32, ROOM = 65536, MOST = 16 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int open_socket(const char *port, const char *peer) {
  int descriptor = socket(AF_INET, SOCK_DGRAM, 0), room = 1 << 20;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  address.sin_port = htons((uint16_t)atoi(port));
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) exit((perror(port), 1));
  address.sin_port = htons((uint16_t)atoi(peer));
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) exit((perror(peer), 1));
  return descriptor;
}

static void *hand_on(void *ends) {
  static __thread char frame[ROOM];
  const int *pair = ends;
  for (;;) {
    ssize_t length = recv(pair[0], frame, sizeof frame, 0);
    if (length > 0 && send(pair[1], frame, (size_t)length, 0) < 0) continue;
  }
  return NULL;
}

static void run_pairs(int (*pairs)[2], int count) {
  pthread_t thread;
  puts("ready");
  fflush(stdout);
  for (int nth = 1; nth < count; nth++) pthread_create(&thread, NULL, hand_on, pairs[nth]);
  hand_on(pairs[0]);
}

// An Ethernet frame from the way's own address to its peer's, so that a switch learns both: they differ in the last byte alone.
static void fill(unsigned char *frame, size_t length, int from, int to) {
  memset(frame, 0x5a, length);
  const unsigned char header[14] = {2, 0, 0, 0, 0, (unsigned char)to, 2, 0, 0, 0, 0, (unsigned char)from, 0x88, 0xb5};
  memcpy(frame, header, sizeof header);
}

static void *answer(void *end) {
  static __thread unsigned char frame[ROOM];
  for (int descriptor = *(int *)end;;) {
    ssize_t length = recv(descriptor, frame, sizeof frame, 0);
    if (length < 14) continue;
    fill(frame, 14, 2, 1);
    if (send(descriptor, frame, (size_t)length, 0) < 0) continue;
  }
  return NULL;
}

static void ping(long pause, int count, int *sockets, int ways) {
  unsigned char frame[FRAME], back[ROOM];
  for (int round = 0; round < count; round++) {
    for (int turn = 0; turn < ways; turn++) {
      int way = (round + turn) % ways;
      struct timespec rest = {pause / 1000000, pause % 1000000 * 1000};
      nanosleep(&rest, NULL);
      fill(frame, sizeof frame, 1, 2);
      memcpy(frame + 14, &round, sizeof round);
      int64_t start = now();
      if (send(sockets[way], frame, sizeof frame, 0) < 0) continue;
      int64_t trip = -1;
      // Blocked as programs are; answers that are late from before do not count.
      struct timeval limit = {1, 0};
      setsockopt(sockets[way], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      while (recv(sockets[way], back, sizeof back, 0) > 0)
        if (memcmp(back + 14, &round, sizeof round) == 0) {
          trip = now() - start;
          break;
        }
      printf("%d %lld\n", way, (long long)trip);
    }
  }
}

static volatile int over;

static void *blast(void *end) {
  static unsigned char frame[FLOOD_FRAME];
  struct mmsghdr messages[BATCH];
  struct iovec vector = {frame, sizeof frame};
  fill(frame, sizeof frame, 1, 2);
  memset(messages, 0, sizeof messages);
  for (int nth = 0; nth < BATCH; nth++) messages[nth].msg_hdr.msg_iov = &vector, messages[nth].msg_hdr.msg_iovlen = 1;
  while (!over) sendmmsg(*(int *)end, messages, BATCH, 0);
  return NULL;
}

static void flood(int milliseconds, int from, int at) {
  static char room[BATCH][2048];
  struct mmsghdr messages[BATCH];
  struct iovec vectors[BATCH];
  memset(messages, 0, sizeof messages);
  for (int nth = 0; nth < BATCH; nth++) {
    vectors[nth] = (struct iovec){room[nth], sizeof room[nth]};
    messages[nth].msg_hdr.msg_iov = &vectors[nth];
    messages[nth].msg_hdr.msg_iovlen = 1;
  }
  struct timeval limit = {0, 100000};
  setsockopt(at, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  pthread_t thread;
  pthread_create(&thread, NULL, blast, &from);
  long long arrived = 0;
  int64_t end = now() + (int64_t)milliseconds * 1000000;
  while (now() < end) {
    int count = recvmmsg(at, messages, BATCH, MSG_WAITFORONE, NULL);
    if (count > 0) arrived += count;
  }
  over = 1;
  pthread_join(thread, NULL);
  printf("%lld\n", arrived);
}

int main(int count, char **words) {
  static int pairs[2 * MOST][2], sockets[MOST];
  pthread_t thread;
  if (count == 6 && strcmp(words[1], "relay") == 0) {
    int left = open_socket(words[2], words[3]), right = open_socket(words[4], words[5]);
    pairs[0][0] = pairs[1][1] = left;
    pairs[0][1] = pairs[1][0] = right;
    run_pairs(pairs, 2);
  }
  int first = count > 1 && strcmp(words[1], "ping") == 0 ? 4 : 2, ways = 0;
  if (count == 7 && strcmp(words[1], "flood") == 0) {
    flood(atoi(words[2]), open_socket(words[3], words[4]), open_socket(words[5], words[6]));
    return 0;
  }
  if (count < first + 2 || (count - first) % 2 != 0 || (count - first) / 2 > MOST) return 2;
  for (int word = first; word < count; word += 2) sockets[ways++] = open_socket(words[word], words[word + 1]);
  if (strcmp(words[1], "ping") == 0) {
    ping(atol(words[2]), atoi(words[3]), sockets, ways);
    return 0;
  }
  puts("ready");
  fflush(stdout);
  for (int way = 1; way < ways; way++) pthread_create(&thread, NULL, answer, &sockets[way]);
  answer(&sockets[0]);
}
