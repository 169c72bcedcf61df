/** How far a long task has come, told on standard error: a bar on a terminal, else a line now and then. */
import cliProgress from 'cli-progress'

export interface TaskProgress {
  readonly task: string
  readonly done: number
  /** 0 where it is not known. */
  readonly total: number
}

export interface TaskTeller {
  update(progress: TaskProgress): void
  /** Before anything else is printed. */
  stop(): void
}

/** Milliseconds between two lines about the same task where there is no terminal. */
const PAUSE = 2_000

export function tellTasks(stream: NodeJS.WriteStream = process.stderr): TaskTeller {
  return stream.isTTY ? bar(stream) : lines(stream)
}

function bar(stream: NodeJS.WriteStream): TaskTeller {
  let shown: cliProgress.SingleBar | null = null
  return {
    update({ task, done, total }) {
      if (shown === null) {
        const format = '{bar} {percentage}% | {value} of {total} | {task}'
        shown = new cliProgress.SingleBar({ stream, format, hideCursor: true })
        shown.start(total, done, { task })
      } else {
        shown.setTotal(total)
        shown.update(done, { task })
      }
    },
    stop: () => shown?.stop(),
  }
}

function lines(stream: NodeJS.WriteStream): TaskTeller {
  let told = { task: '', at: 0 }
  return {
    update({ task, done, total }) {
      if (task === told.task && Date.now() - told.at < PAUSE) return
      told = { task, at: Date.now() }
      stream.write(total > 0 ? `${task}: ${done} of ${total}\n` : `${task}\n`)
    },
    stop: () => undefined,
  }
}
