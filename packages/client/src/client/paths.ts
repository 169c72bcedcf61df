/** Paths of a registry that serves operations at other paths than the specification's. */
import { OPERATIONS, type Operation } from '@rollcall/protocol'

/**
 * An operation, such as `txn-status`, with its whole path; or the beginning of paths, such as `registry` or
 * `registry/sync`, with its replacement. An operation wins over a beginning, and a longer beginning over a shorter one.
 */
export type Paths = Readonly<Record<string, string>>

const NAMES = new Set(OPERATIONS.map(({ name }) => name))
const OWN = OPERATIONS.flatMap(({ sync_paths, async_paths }) => [...sync_paths, ...async_paths])

const begins = (path: string, beginning: string): boolean => `${path}/`.startsWith(`${beginning}/`)

/** @throws TypeError for a key that begins no path, or an invalid path */
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

/** Removes slashes at both ends. */
const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, '')
