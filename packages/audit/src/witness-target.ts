/** The file or the server to which a witness writes. */
export interface WitnessTarget {
  /** Writes lines; resolves when all are written or sent. @param signal aborts the write, which then rejects */
  write(lines: readonly string[], signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Where the witness is, as configured: the path of a file, or the address of a syslog server. */
export type WitnessAddress =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'udp' | 'tcp'; readonly host: string; readonly port: number }

const SYSLOG_PORT = 514
const SYSLOG_PROTOCOLS: Readonly<Record<string, 'udp' | 'tcp'>> = { 'syslog:': 'udp', 'syslog+tcp:': 'tcp' }

/** Reads the setting of the witness; null when the text is neither a path nor the address of a syslog server. */
export function readWitnessAddress(text: string): WitnessAddress | null {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return { kind: 'file', path: text }
  const url = URL.parse(text)
  const kind = SYSLOG_PROTOCOLS[url?.protocol ?? '']
  if (url === null || kind === undefined || url.hostname === '' || !['', '/'].includes(url.pathname)) return null
  if (url.username !== '' || url.search !== '' || url.hash !== '') return null
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { kind, host, port: url.port === '' ? SYSLOG_PORT : Number(url.port) }
}
