/** Reads IP addresses and prefixes (ranges of addresses) from settings. */
import { isIP } from 'node:net'

/** Reads an address, or a prefix as `address/bits`; null for any other text. An address alone is a prefix with all its bits. */
export function readAddressPrefix(text: string): { readonly address: string; readonly bits: number } | null {
  const [address = '', length, ...more] = text.split('/')
  const family = isIP(address)
  const most = family === 6 ? 128 : 32
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  return family !== 0 && bits <= most && more.length === 0 ? { address, bits } : null
}
