/** Where a server is reached, and by whom. */
import { BlockList, isIP } from 'node:net'
import type { Config } from './config.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether only this machine reaches a listener on `host`, an address or a name. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return /^localhost\.?$/i.test(host)
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/** Listening on all addresses is no address to send a request to; this machine answers on loopback then. */
const REACHED_AT: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** `http://host:port` of a listener, as this machine can use it. */
export function listenerUrl(host: string, port: number): string {
  const name = REACHED_AT[host] ?? host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

/** The base address that peers know: the configured one, else that of the listener; without a slash at its end. */
export function baseUrl(config: Pick<Config, 'publicUrl' | 'host'>, port: number): string {
  return config.publicUrl ?? listenerUrl(config.host, port)
}
