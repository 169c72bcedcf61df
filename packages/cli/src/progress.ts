/** How far an import has come, told on standard error: a bar on a terminal, else a line now and then. */
import type { ImportProgress } from '@rollcall/server/admin/records'
import cliProgress from 'cli-progress'

export interface ProgressTeller {
  update(progress: ImportProgress): void
  /** Before anything else is printed. */
  stop(): void
}

/** Milliseconds between two lines where there is no terminal. */
const PAUSE = 2_000

export function tellProgress(stream: NodeJS.WriteStream = process.stderr): ProgressTeller {
  return stream.isTTY ? bar(stream) : lines(stream)
}

function bar(stream: NodeJS.WriteStream): ProgressTeller {
  const speed = speedometer()
  let shown: cliProgress.SingleBar | null = null
  return {
    update(progress) {
      const { bytes, totalBytes, lines: records, rejected } = progress
      const tokens = { records, rejected, rate: speed(progress).rate ?? '-' }
      if (shown === null) {
        const known = totalBytes === null ? '' : '{bar} {percentage}% | ETA {eta_formatted} | '
        const format = `${known}{records} records, {rate}/s, {rejected} rejected`
        shown = new cliProgress.SingleBar({ stream, format, hideCursor: true, etaBuffer: 50 })
        shown.start(totalBytes ?? 0, bytes, tokens)
      } else shown.update(bytes, tokens)
    },
    stop: () => shown?.stop(),
  }
}

function lines(stream: NodeJS.WriteStream): ProgressTeller {
  const speed = speedometer()
  let told = Date.now()
  return {
    update(progress) {
      const { rate, secondsLeft } = speed(progress)
      if (Date.now() - told < PAUSE || rate === null) return
      told = Date.now()
      const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`
      stream.write(`${progress.lines} records, ${rate}/s, ${progress.rejected} rejected${left}\n`)
    },
    stop: () => undefined,
  }
}

interface Speed {
  /** Records a second since the first call; null at the first. */
  readonly rate: number | null
  /** Null where the size of the source is not known. */
  readonly secondsLeft: number | null
}

/** What an interrupted import had done before does not count as done in this one's time. */
function speedometer(): (progress: ImportProgress) => Speed {
  let first: { readonly at: number; readonly progress: ImportProgress } | null = null
  return (progress) => {
    if (first === null) {
      first = { at: Date.now(), progress }
      return { rate: null, secondsLeft: null }
    }
    const seconds = Math.max(Date.now() - first.at, 1) / 1_000
    const rate = Math.round((progress.lines - first.progress.lines) / seconds)
    const bytesPerSecond = (progress.bytes - first.progress.bytes) / seconds
    const bytesLeft = progress.totalBytes === null ? null : progress.totalBytes - progress.bytes
    const known = bytesLeft !== null && bytesPerSecond > 0
    return { rate, secondsLeft: known ? Math.ceil(bytesLeft / bytesPerSecond) : null }
  }
}
