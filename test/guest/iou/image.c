// A program that behaves towards its surroundings as an image of IOU does: its options and its help, the lock and the socket of its id,
// NETMAP, frames behind headers, a console that echoes by itself, and its NVRAM file. It is no router: it answers a kind of ping.
//
// Commands: ping B/U N [BYTES] · flood B/U N BYTES · show · save TEXT · licence · quit CODE
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 8, MOST = 4096, REQUEST = 1, REPLY = 2, WAIT_MS = 2000 };

struct wire { int peer, peer_port; };

static int own, nvram_kib = 64, sock;
static struct wire wires[256];
static char socket_path[100], lock_path[120], nvram_path[40];
static volatile sig_atomic_t over;

static void fail(const char *what) { fprintf(stderr, "%s: %s\n", what, strerror(errno)); exit(3); }

static void help(void) {
  fputs("Usage: <image> [options] <application id>\n"
        "-e <n>      Number of Ethernet interfaces (default 2)\n"
        "-s <n>      Number of Serial interfaces (default 2)\n"
        "-n <n>      Size of nvram in Kb (default 64KB)\n"
        "-m <n>      Megabytes of router memory (default 256MB)\n"
        "-l          Enable Layer 1 keepalive messages\n", stderr);
  exit(1);
}

static void take_id(void) {
  char folder[60];
  snprintf(folder, sizeof folder, "/tmp/netio%d", (int)getuid());
  if (mkdir(folder, 0700) < 0 && errno != EEXIST) fail(folder);
  snprintf(socket_path, sizeof socket_path, "%s/%d", folder, own);
  snprintf(lock_path, sizeof lock_path, "%s.lck", socket_path);
  int lock = open(lock_path, O_WRONLY | O_CREAT, 0600);
  struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  if (lock < 0 || fcntl(lock, F_SETLK, &whole) < 0) fail(lock_path);
  if (ftruncate(lock, 0) < 0 || dprintf(lock, "%d\n", (int)getpid()) < 0) fail(lock_path);
  unlink(socket_path);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
  sock = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (sock < 0 || bind(sock, (struct sockaddr *)&address, sizeof address) < 0) fail(socket_path);
}

static void read_netmap(void) {
  FILE *map = fopen("NETMAP", "r");
  if (!map) fail("NETMAP");
  for (char line[200]; fgets(line, sizeof line, map);) {
    int left, left_bay, left_unit, right, bay, unit;
    if (sscanf(line, "%d:%d/%d %d:%d/%d", &left, &left_bay, &left_unit, &right, &bay, &unit) != 6) continue;
    if (right == own) wires[unit * 16 + bay] = (struct wire){ left, left_unit * 16 + left_bay };
  }
  fclose(map);
}

static int transmit(int port, const uint8_t *frame, size_t length) {
  uint8_t datagram[HEADER + MOST];
  struct wire to = wires[port];
  uint8_t header[HEADER] = { to.peer >> 8, to.peer, own >> 8, own, to.peer_port, port, 1, 0 };
  memcpy(datagram, header, HEADER);
  memcpy(datagram + HEADER, frame, length);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf(address.sun_path, sizeof address.sun_path, "/tmp/netio%d/%d", (int)getuid(), to.peer);
  return sendto(sock, datagram, HEADER + length, 0, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : 0;
}

static size_t echo_frame(uint8_t *frame, int kind, uint32_t number, size_t length) {
  memset(frame, 0xaa, length);
  memset(frame, 0xff, 6);
  frame[12] = 0x88, frame[13] = 0xb5, frame[14] = kind;
  memcpy(frame + 15, &number, 4);
  return length;
}

static long clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/** Takes a datagram; answers the number of a reply that came by the port, or -1. Requests are answered. */
static long receive(int port) {
  uint8_t datagram[HEADER + MOST];
  ssize_t length = recv(sock, datagram, sizeof datagram, MSG_DONTWAIT);
  uint8_t *frame = datagram + HEADER;
  if (length < HEADER + 20 || datagram[6] != 1) return -1;
  if (frame[12] != 0x88 || frame[13] != 0xb5) return -1;
  // To whom it is, and from whom, has to be right: a real image drops it otherwise.
  if (datagram[0] * 256 + datagram[1] != own || datagram[2] * 256 + datagram[3] != wires[datagram[4]].peer) return -1;
  uint32_t number;
  memcpy(&number, frame + 15, 4);
  if (frame[14] == REQUEST) {
    frame[14] = REPLY;
    transmit(datagram[4], frame, length - HEADER);
    return -1;
  }
  return datagram[4] == port ? (long)number : -1;
}

static void ping(int port, int count, int bytes) {
  int replies = 0;
  for (uint32_t number = 0; number < (uint32_t)count && !over; number++) {
    uint8_t frame[MOST];
    transmit(port, frame, echo_frame(frame, REQUEST, number, bytes));
    int came = 0;
    for (long end = clock_ms() + WAIT_MS; !came && !over && clock_ms() < end;) {
      struct pollfd ready = { .fd = sock, .events = POLLIN };
      if (poll(&ready, 1, 50) > 0 && receive(port) == (long)number) came = 1;
    }
    replies += came;
  }
  printf("%d of %d\r\n", replies, count);
}

static void flood(int port, int count, int bytes) {
  uint8_t frame[MOST];
  echo_frame(frame, REPLY, 0, bytes);
  for (int sent = 0; sent < count && !over; sent++) transmit(port, frame, bytes);
  printf("sent %d\r\n", count);
}

static uint32_t number_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static void put(uint8_t *bytes, uint32_t number) {
  for (int place = 0; place < 4; place++) bytes[place] = number >> (24 - 8 * place);
}

static size_t read_nvram(uint8_t **nvram) {
  size_t size = nvram_kib * 1024;
  *nvram = calloc(1, size);
  int file = open(nvram_path, O_RDONLY);
  if (file >= 0) { if (read(file, *nvram, size) < 0) fail(nvram_path); close(file); }
  return size;
}

static void show(void) {
  uint8_t *nvram;
  read_nvram(&nvram);
  if (nvram[0] == 0xab && nvram[1] == 0xcd) printf("[%.*s]\r\n", (int)number_at(nvram + 16), nvram + 36);
  else printf("none\r\n");
  free(nvram);
}

static void save(const char *text) {
  uint8_t *nvram;
  size_t size = read_nvram(&nvram), length = strlen(text) + 1;
  memset(nvram, 0, size / 2);
  memcpy(nvram, "\xab\xcd\0\1\0\0\x0f\4", 8);
  put(nvram + 8, 0x10000000 + 36);
  put(nvram + 12, 0x10000000 + 36 + length);
  put(nvram + 16, length);
  memcpy(nvram + 36, text, length - 1);
  nvram[36 + length - 1] = '\n';
  uint8_t *private = nvram + ((36 + length + 3) & ~3u);
  memcpy(private, "\xfe\xdc\0\1", 4);
  memcpy(private + 16, "crypto\n", 7);
  put(private + 12, 7);
  uint32_t sum = 0;
  for (size_t at = 0; at < size / 2; at += 2) sum += nvram[at] << 8 | nvram[at + 1];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  nvram[4] = ~sum >> 8, nvram[5] = ~sum;
  int file = open(nvram_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, nvram, size) < 0) fail(nvram_path);
  close(file);
  free(nvram);
  printf("saved\r\n");
}

static void run(char *line) {
  int bay, unit, count, bytes = 100;
  char text[1000];
  if (sscanf(line, "ping %d/%d %d %d", &bay, &unit, &count, &bytes) >= 3) ping(unit * 16 + bay, count, bytes);
  else if (sscanf(line, "flood %d/%d %d %d", &bay, &unit, &count, &bytes) == 4) flood(unit * 16 + bay, count, bytes);
  else if (!strcmp(line, "show")) show();
  else if (sscanf(line, "save %999[^\n]", text) == 1) save(text);
  else if (!strcmp(line, "licence")) printf("licence %s\r\n", getenv("IOURC") ? getenv("IOURC") : "none");
  else if (sscanf(line, "quit %d", &count) == 1) exit(count);
  else if (*line) printf("? %s\r\n", line);
}

static void finish(int signal) { (void)signal; over = 1; }

int main(int count, char **words) {
  for (int option; (option = getopt(count, words, "he:s:n:m:l")) != -1;) {
    if (option == 'h' || option == '?') help();
    if (option == 'n') nvram_kib = atoi(optarg);
  }
  if (optind >= count) help();
  own = atoi(words[optind]);
  struct sigaction ending = { .sa_handler = finish };
  sigaction(SIGTERM, &ending, NULL);
  snprintf(nvram_path, sizeof nvram_path, "nvram_%05d", own);
  setvbuf(stdout, NULL, _IONBF, 0);
  read_netmap();
  take_id();
  printf("Router>");
  static char line[2000];
  for (size_t length = 0; !over;) {
    struct pollfd ready[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = sock, .events = POLLIN } };
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents) receive(-1);
    if (!ready[0].revents) continue;
    char typed;
    if (read(STDIN_FILENO, &typed, 1) != 1) break;
    if (typed != '\r' && typed != '\n') {
      if (length < sizeof line - 1) { line[length++] = typed; putchar(typed); }
      continue;
    }
    line[length] = 0;
    length = 0;
    printf("\r\n");
    run(line);
    if (!over) printf("Router>");
  }
  unlink(socket_path);
  unlink(lock_path);
  return 0;
}
