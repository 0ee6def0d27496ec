// The Debian packages that Labwire makes use of: what its own package recommends, and what a bundle for hosts without a network has.

/** In the order of a reader's interest; docs/packaging.md says what each is for. */
export const RECOMMENDED = ['vpcs', 'qemu-system-x86', 'qemu-utils', 'ovmf', 'swtpm', 'libpcap0.8', 'nftables'];
