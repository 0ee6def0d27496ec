// Names of the decoded protocols and fields, as in Wireshark's display filters. A decoder that uses another name does not compile.

/** The fields of each protocol. */
const FIELDS = {
  arp: 'dst.hw_mac dst.proto_ipv4 hw.size hw.type opcode proto.size proto.type src.hw_mac src.proto_ipv4',
  bgp: 'length marker nlri_prefix notify.major_error notify.minor_error open.holdtime open.identifier open.myas open.opt.len open.version type update.path_attribute.next_hop withdrawn_prefix',
  cdp: 'capabilities checksum deviceid duplex native_vlan platform portid software_version ttl version vtp_management_domain',
  cdpcp: '',
  chap: '',
  chdlc: 'address control protocol',
  dhcp: 'cookie file flags hops hw.len hw.mac_addr hw.type id ip.client ip.relay ip.server ip.your option option.address option.dhcp option.text option.time secs server type',
  dns: 'flags id length qry.name resp',
  eigrp: 'ack as checksum flags opcode seq tlv version vrid',
  eth: 'dst len src type',
  fr: 'chdlctype control dlci nlpid snap.oui snap.pid',
  hsrp: 'auth_data group hellotime holdtime opcode priority state version virt_ip',
  hsrp2: 'group hellotime holdtime identifier ipversion opcode priority state version virt_ip virt_ip_v6',
  icmp: 'checksum code ident redir_gw seq type',
  icmpv6:
    'checksum code echo.identifier echo.sequence_number flags nd.ra.cur_hop_limit nd.ra.flag nd.ra.router_lifetime nd.target_address opt.linkaddr type',
  ip: 'checksum dsfield dst flags frag_offset hdr_len id len options proto src ttl version',
  ipcp: '',
  ipv6: 'dst ext flow fraghdr.ident fraghdr.offset hlim nxt plen src tclass version',
  ipv6cp: '',
  lcp: '',
  llc: 'control dsap oui pid ssap',
  lldp: 'chassis.id orgtlv port.id time_to_live tlv.system.name tlv.text',
  lmi: 'cref msg_type rec_type recv_seq send_seq',
  mdns: '',
  ospf: 'area_id auth.data auth.type checksum db.dd_sequence db.flags db.interface_mtu hello.active_neighbor hello.backup_designated_router hello.designated_router hello.hello_interval hello.network_mask hello.options hello.router_dead_interval hello.router_priority ls.number_of_lsas lsa msg options packet_length srcrouter version',
  pap: '',
  ppp: 'address code control identifier length protocol',
  rip: 'auth command ip version',
  ripng: 'cmd rte.ipv6_prefix version',
  slarp: 'address mask mysequence ptype yoursequence',
  stp: 'bridge.hw flags forward hello max_age msg_age port protocol root.cost root.hw type version',
  tcp: 'ack_raw checksum dstport flags hdr_len options seq_raw srcport urgent_pointer window_size_value',
  udp: 'checksum dstport length srcport',
  vlan: 'etype id len priority',
  vrrp: 'addr_count adver_int auth_type checksum ip_addr ipv6_addr prio short_adver_int type version virt_rtr_id',
} as const;

type Split<Text extends string> = Text extends `${infer One} ${infer Rest}` ? One | Split<Rest> : Text;

type Prefix = keyof typeof FIELDS;

/** Fields without a protocol. `link`: the capture, in a list of several. */
const ALONE = ['link', 'data'] as const;

export type Protocol = Prefix | 'link';
export type FieldName =
  | (typeof ALONE)[number]
  | {
      [Key in Prefix]: (typeof FIELDS)[Key] extends '' ? never : `${Key}.${Split<(typeof FIELDS)[Key]>}`;
    }[Prefix];

/** HSRP has another prefix for the fields of its version 2. */
export const PROTOCOLS = Object.keys(FIELDS).filter((name) => name !== 'hsrp2') as Protocol[];

export const FIELD_NAMES: readonly string[] = [
  ...ALONE,
  ...Object.entries(FIELDS).flatMap(([protocol, names]) =>
    names === '' ? [] : names.split(' ').map((name) => `${protocol}.${name}`),
  ),
];
