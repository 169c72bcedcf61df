/** Processor time of a PostgreSQL that runs on this machine, as Linux counts it. */
import { readdir, readFile } from 'node:fs/promises'
import type { Database } from '@rollcall/database/database'

/** Microseconds of a tick of the kernel's clock, as `/proc` counts. */
const TICK = 10_000

/**
 * Processor time of the server and all its processes since its start, in microseconds; NaN where this cannot be read: it runs
 * on another machine, or this is not Linux.
 */
export async function databaseTime({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const server = (await statOf(rows[0]?.pid ?? 0))?.parent
  const all = await Promise.all((await readdir('/proc').catch(() => [])).map(Number).filter(Boolean).map(statOf))
  const own = all.filter((stat) => stat !== null && (stat.pid === server || stat.parent === server))
  return own.length === 0 ? Number.NaN : own.reduce((sum, stat) => sum + (stat?.time ?? 0), 0)
}

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly time: number
}

/** Null: there is no such process any more. */
async function statOf(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name, which may hold anything, from the third field on (proc(5)).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent, , , , , , , , , , user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields
  if (parent === undefined) return null
  return { pid, parent, time: (user + system + childrenUser + childrenSystem) * TICK }
}
