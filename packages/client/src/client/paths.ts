/** Where a registry serves its operations, if not at the paths of the specification. */
import { OPERATIONS, type Operation } from '@rollcall/protocol'

/**
 * By the name of an operation, such as `txn-status`, its whole path; or by the beginning of paths, such as `registry` or
 * `registry/sync`, what stands there instead. An operation counts before a beginning, and a longer beginning before a shorter one.
 */
export type Paths = Readonly<Record<string, string>>

const NAMES = new Set(OPERATIONS.map(({ name }) => name))
const OWN = OPERATIONS.flatMap(({ sync_paths, async_paths }) => [...sync_paths, ...async_paths])

const begins = (path: string, beginning: string): boolean => `${path}/`.startsWith(`${beginning}/`)

/** @throws TypeError for a row that no path begins with, or a path that is none */
export function checkPaths(paths: Paths): void {
  for (const [row, path] of Object.entries(paths)) {
    const at = `paths.${row}`
    if (!NAMES.has(row) && !OWN.some((own) => begins(own, row))) {
      throw new TypeError(
        `${at}: must be the name of an operation, such as txn-status, or the beginning of paths, such as registry`,
      )
    }
    if (/[?#\\\s]/.test(path) || path.split('/').some((segment) => segment === '.' || segment === '..')) {
      throw new TypeError(`${at}: must be a path below base_url, such as dci or reg/txn/status`)
    }
  }
}

/** The path of an operation at the registry. @param path the path of the specification */
export function pathAt(paths: Paths, { name }: Operation, path: string): string {
  const whole = Object.hasOwn(paths, name) ? paths[name] : undefined
  if (whole !== undefined) return trimmed(whole)
  const [longest] = Object.entries(paths)
    .filter(([beginning]) => begins(path, beginning))
    .toSorted(([one], [other]) => other.length - one.length)
  if (longest === undefined) return path
  const [beginning, instead] = longest
  return trimmed(`${trimmed(instead)}${path.slice(beginning.length)}`)
}

/** Without slashes around it. */
const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, '')
