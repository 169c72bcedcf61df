/** Shows on standard error how far a long task has come: a bar on a terminal, otherwise a line now and then. */
import type { ReportedProgress } from '@rollcall/admin/records/records'
import cliProgress from 'cli-progress'

export interface ProgressReporter<Progress> {
  update(progress: Progress): void
  /** Ends the bar. Call it before anything else is printed. */
  stop(): void
}

export interface TaskProgress {
  readonly task: string
  readonly done: number
  /** The number of all steps; 0 when it is unknown. */
  readonly total: number
}

interface ShownProgress extends TaskProgress {
  readonly text: string
}

/** Milliseconds between two lines about the same task where there is no terminal. */
const LINE_PAUSE_MILLISECONDS = 2_000

/** Shows the progress of tasks, one after the other: the name of the task and its steps. */
export const reportTaskProgress = (): ProgressReporter<TaskProgress> =>
  createReporter((progress) => {
    const { task, done, total } = progress
    return { ...progress, text: total > 0 ? `${task}: ${done} of ${total}` : task }
  })

type FileProgress = Pick<ReportedProgress, 'bytes' | 'totalBytes' | 'lines' | 'rejected'>

/** Shows the progress of an import. Its records per second do not include records of an earlier, interrupted run. */
export function reportImportProgress(): ProgressReporter<FileProgress> {
  let first: { readonly at: number; readonly progress: FileProgress } | null = null
  return createReporter((progress) => {
    first ??= { at: Date.now(), progress }
    const { bytes, totalBytes, lines, rejected } = progress
    const seconds = Math.max(Date.now() - first.at, 1) / 1_000
    const rate = progress === first.progress ? '-' : Math.round((lines - first.progress.lines) / seconds)
    const bytesPerSecond = (bytes - first.progress.bytes) / seconds
    const left =
      totalBytes !== null && bytesPerSecond > 0 ? `, about ${Math.ceil((totalBytes - bytes) / bytesPerSecond)} s left` : ''
    const text = `${lines} records, ${rate}/s, ${rejected} rejected${left}`
    return { task: '', done: bytes, total: totalBytes ?? 0, text }
  })
}

function createReporter<Progress>(
  show: (progress: Progress) => ShownProgress,
  stream: NodeJS.WriteStream = process.stderr,
): ProgressReporter<Progress> {
  const { update, stop } = stream.isTTY ? createBarReporter(stream) : createLineReporter(stream)
  return { update: (progress) => update(show(progress)), stop }
}

function createBarReporter(stream: NodeJS.WriteStream): ProgressReporter<ShownProgress> {
  let shown: cliProgress.SingleBar | null = null
  return {
    update({ done, total, text }) {
      if (shown === null) {
        const format = total > 0 ? '{bar} {percentage}% | {text}' : '{text}'
        shown = new cliProgress.SingleBar({ stream, format, hideCursor: true })
        shown.start(total, done, { text })
      } else {
        shown.setTotal(total)
        shown.update(done, { text })
      }
    },
    stop: () => shown?.stop(),
  }
}

function createLineReporter(stream: NodeJS.WriteStream): ProgressReporter<ShownProgress> {
  let last = { task: '', at: Date.now() }
  return {
    update({ task, text }) {
      if (task === last.task && Date.now() - last.at < LINE_PAUSE_MILLISECONDS) return
      last = { task, at: Date.now() }
      stream.write(`${text}\n`)
    },
    stop: () => undefined,
  }
}
