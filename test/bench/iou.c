// Peers of the fabric: one that sends frames in small bursts, and one that takes them, by UDP or as an image of IOU does.
// send|take udp LOCAL REMOTE FRAMES BYTES · send|take iol LOCAL REMOTE FRAMES BYTES (paths of sockets)
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 8, BURST = 8, PAUSE_NS = 400000 };

int main(int count, char **words) {
  if (count < 7) return 2;
  int udp = !strcmp(words[2], "udp"), header = udp ? 0 : HEADER, frames = atoi(words[5]), bytes = atoi(words[6]);
  struct sockaddr_storage own = { 0 }, peer = { 0 };
  struct sockaddr_storage *both[] = { &own, &peer };
  for (int end = 0; end < 2; end++) {
    if (udp) {
      struct sockaddr_in *address = (struct sockaddr_in *)both[end];
      address->sin_family = AF_INET;
      address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address->sin_port = htons(atoi(words[3 + end]));
    } else {
      struct sockaddr_un *address = (struct sockaddr_un *)both[end];
      address->sun_family = AF_UNIX;
      snprintf(address->sun_path, sizeof address->sun_path, "%s", words[3 + end]);
    }
  }
  socklen_t length = udp ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_un);
  int sock = socket(udp ? AF_INET : AF_UNIX, SOCK_DGRAM, 0);
  if (bind(sock, (struct sockaddr *)&own, length) < 0) return 3;
  uint8_t datagram[5000] = { 0 };
  datagram[6] = 1;
  if (!strcmp(words[1], "take")) {
    printf("ready\n");
    fflush(stdout);
    int taken = 0;
    while (taken < frames && recv(sock, datagram, sizeof datagram, 0) > 0) taken++;
    printf("%d\n", taken);
    return 0;
  }
  for (int sent = 0; sent < frames; sent++) {
    sendto(sock, datagram, header + bytes, 0, (struct sockaddr *)&peer, length);
    if (sent % BURST == BURST - 1) nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
  }
  return 0;
}
