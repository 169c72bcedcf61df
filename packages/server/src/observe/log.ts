/** The server's log: JSON lines without personal data or secrets; readable lines on a terminal. */
import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type Log = Logger

/** A log that writes to `destination` (default: standard error, so that standard output stays for answers). */
export function createLog(options: { level?: string; destination?: NodeJS.WritableStream } = {}): Log {
  const destination = options.destination ?? process.stderr
  const settings = { level: options.level ?? 'info', base: null, timestamp: isoTime, formatters: { level } }
  const onTerminal = 'isTTY' in destination && destination.isTTY === true
  if (!onTerminal) return pino(settings, destination)
  return pino(settings, pretty({ destination, colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }))
}

const isoTime = (): string => `,"time":"${new Date().toISOString()}"`
const level = (label: string) => ({ level: label })
