/** The version of a release: which one may be next, and where it stands. All packages have the same. */

export type ByName = Readonly<Record<string, string>>

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports?: ByName
  /** Patterns of the files that are published. */
  readonly files?: readonly string[]
  readonly dependencies?: ByName
  readonly optionalDependencies?: ByName
  readonly [member: string]: unknown
}

interface Lock {
  readonly packages: Readonly<Record<string, Manifest & { readonly link?: boolean }>>
  readonly [member: string]: unknown
}

/** The workspace's own packages, by their names. */
export const isOwn = (name: string): boolean => name === 'rollcall' || name.startsWith('@rollcall/')

/** The manifest with another version, which is also that of the workspace's packages that it needs. */
export function withVersion<Of extends Pick<Manifest, 'version' | 'dependencies'>>(manifest: Of, version: string): Of {
  const { dependencies } = manifest
  if (dependencies === undefined) return { ...manifest, version }
  const named = Object.entries(dependencies).map(([name, range]) => [name, isOwn(name) ? version : range])
  return { ...manifest, version, dependencies: Object.fromEntries(named) as ByName }
}

/** package-lock.json with the version of the workspace's packages. */
export function lockWithVersion(lock: Lock, version: string): Lock {
  const packages = Object.entries(lock.packages).map(([path, entry]) => [
    path,
    path.includes('node_modules/') ? entry : withVersion(entry, version),
  ])
  return { ...lock, version, packages: Object.fromEntries(packages) as Lock['packages'] }
}

/** Why a release is refused, in words for whoever makes it. */
export class ReleaseRefused extends Error {}

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/
const HEADING = /^## (\d+\.\d+\.\d+)\b.*$/gm
const UNRELEASED = '## Unreleased\n'

export interface Changelog {
  /** The whole file after the release. */
  readonly text: string
  /** The text on what changed in this release. */
  readonly section: string
}

/**
 * The changelog in which "Unreleased" has become a version.
 * @param date of the release, as 2026-02-03
 * @throws ReleaseRefused
 */
export function releasedChangelog(text: string, version: string, date: string): Changelog {
  if (!VERSION.test(version)) throw new ReleaseRefused(`${version} is not a version such as 1.2.0`)
  const released = [...text.matchAll(HEADING)].map(([, name = '']) => name)
  if (released.includes(version)) {
    throw new ReleaseRefused(`CHANGELOG.md has version ${version} already. Name a later one: npm run release -- 1.2.0`)
  }
  const later = released.find((other) => isLater(other, version))
  if (later !== undefined) throw new ReleaseRefused(`CHANGELOG.md has version ${later}, which is later than ${version}`)
  const start = text.indexOf(UNRELEASED)
  if (start === -1) throw new ReleaseRefused('CHANGELOG.md has no heading "## Unreleased"')
  const [before, after] = [text.slice(0, start), text.slice(start + UNRELEASED.length)]
  const end = after.search(/^## /m)
  const section = (end === -1 ? after : after.slice(0, end)).trim()
  if (!/^- /m.test(section)) {
    throw new ReleaseRefused('CHANGELOG.md has nothing under "## Unreleased": there is nothing to release')
  }
  const rest = end === -1 ? '' : `\n${after.slice(end)}`
  return { section, text: `${before}${UNRELEASED}\n## ${version} - ${date}\n\n${section}\n${rest}` }
}

function isLater(a: string, b: string): boolean {
  const numbers = (version: string): number[] => version.split('.').map(Number)
  const [left, right] = [numbers(a), numbers(b)]
  const at = left.findIndex((number, index) => number !== right[index])
  return at !== -1 && (left[at] ?? 0) > (right[at] ?? 0)
}
