/** Finds the paths of a registry that serves operations at other paths than the specification's. */
import { OPERATIONS, type Operation } from '@rollcall/protocol'

/**
 * Replacements for paths of the specification. A key may be an operation, such as `txn-status`: the value is then the whole path.
 * Or the key is the first segments of paths, such as `registry/sync`: the value then replaces these segments. If several keys
 * fit a path, its operation is used, or else the longest key.
 */
export type Paths = Readonly<Record<string, string>>

const OPERATION_NAMES = new Set(OPERATIONS.map(({ name }) => name))
const PROTOCOL_PATHS = OPERATIONS.flatMap(({ sync_paths, async_paths }) => [...sync_paths, ...async_paths])

const hasBeginning = (path: string, beginning: string): boolean => `${path}/`.startsWith(`${beginning}/`)

/** Checks replacements for paths. @throws TypeError a key fits nothing in the specification, or a path is invalid */
export function checkPaths(paths: Paths): void {
  for (const [row, path] of Object.entries(paths)) {
    const at = `paths.${row}`
    if (!OPERATION_NAMES.has(row) && !PROTOCOL_PATHS.some((own) => hasBeginning(own, row))) {
      throw new TypeError(
        `${at}: must be the name of an operation, such as txn-status, or the beginning of paths, such as registry`,
      )
    }
    if (/[?#\\\s]/.test(path) || path.split('/').some((segment) => segment === '.' || segment === '..')) {
      throw new TypeError(`${at}: must be a path below base_url, such as dci or reg/txn/status`)
    }
  }
}

/** The path of an operation at the registry. @param path the path in the specification */
export function pathAtRegistry(paths: Paths, { name }: Operation, path: string): string {
  const whole = Object.hasOwn(paths, name) ? paths[name] : undefined
  if (whole !== undefined) return withoutOuterSlashes(whole)
  const [longest] = Object.entries(paths)
    .filter(([beginning]) => hasBeginning(path, beginning))
    .toSorted(([one], [other]) => other.length - one.length)
  if (longest === undefined) return path
  const [beginning, instead] = longest
  return withoutOuterSlashes(`${withoutOuterSlashes(instead)}${path.slice(beginning.length)}`)
}

const withoutOuterSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '')
