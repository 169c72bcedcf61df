/** Tells loopback hosts, which only this machine can reach, from other hosts. */
import { BlockList, isIP } from 'node:net'

const loopbackAddresses = new BlockList()
loopbackAddresses.addSubnet('127.0.0.0', 8, 'ipv4')
loopbackAddresses.addAddress('::1', 'ipv6')

/** True when a listener on `host`, an address or a name, can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return /^localhost\.?$/i.test(host)
  return loopbackAddresses.check(host, family === 6 ? 'ipv6' : 'ipv4')
}
