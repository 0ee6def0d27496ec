// What all eBPF programs of frames share: offsets, answers and lengths.

/** Offsets in struct __sk_buff (linux/bpf.h). */
export const SKB = {
  length: 0,
  protocol: 16,
  vlanPresent: 20,
  vlanControl: 24,
  vlanProtocol: 28,
  wireLength: 160,
  segments: 164,
  gsoSize: 176,
} as const;

/** Answers of a program that drops the frame (TC_ACT_SHOT), and of one that has redirected it (TC_ACT_REDIRECT). */
export const DROP = 2;
export const REDIRECT = 7;

export const ETHERNET_BYTES = 14;
export const VLAN_BYTES = 4;
