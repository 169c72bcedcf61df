/** Decides whether an upgrade from one version to another is possible. */
import { NODE_PORTS } from './places.ts'

export interface UpgradePlan {
  readonly from: string
  readonly to: string
  /** The port of the node in use; `next` is the port of its successor. */
  readonly port: number
  readonly next: number
}

export interface NodeVersions {
  /** The port of the node in use. */
  readonly port: number
  /** The version of the node at each port; null: none was installed there. */
  readonly versions: ReadonlyMap<number, string | null>
  /** The version of the installed package. */
  readonly installed: string
  /** The versions that changed tables, as the installed package lists them. */
  readonly schemas: readonly string[]
  /** True to go back to the earlier version. */
  readonly back: boolean
}

/** Plans an upgrade; null: the node in use has the installed version already; a text: the reason of a refusal. */
export function planUpgrade({ port, versions, installed, schemas, back }: NodeVersions): UpgradePlan | null | string {
  const next = NODE_PORTS.find((one) => one !== port) ?? port
  const from = versions.get(port)
  if (from === null || from === undefined) return `no version is known of the node on port ${port}: install the package again`
  const to = back ? versions.get(next) : installed
  if (to === null || to === undefined || (back && to === from)) return 'no version ran before the one in use'
  if (to === from) return null
  const [older, newer] = isLaterVersion(to, from) ? [from, to] : [to, from]
  const between = schemas.filter((version) => isLaterVersion(version, older) && !isLaterVersion(version, newer))
  if (between.length > 1) {
    return `the tables changed in ${between.join(' and ')}, and nodes of ${older} work with those of one version more: install these versions one after the other`
  }
  return { from, to, port, next }
}

const { compare } = new Intl.Collator('en', { numeric: true })

/** True when a version comes after another one. A version with a suffix, such as 0.2.0-rc1, comes before the release 0.2.0. */
export function isLaterVersion(one: string, than: string): boolean {
  const [[release = '', ...suffix], [otherRelease = '', ...otherSuffix]] = [one.split('-'), than.split('-')]
  if (release !== otherRelease) return compare(release, otherRelease) > 0
  if (suffix.length === 0 || otherSuffix.length === 0) return suffix.length < otherSuffix.length
  return compare(suffix.join('-'), otherSuffix.join('-')) > 0
}
