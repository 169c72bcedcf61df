/** Software bills of materials (CycloneDX) of the packages that are published: all that npm installs with each. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { manifestOf } from './build-package.ts'
import { PACKAGES } from './packages.ts'
import { workspaceFiles } from './workspace-files.ts'

const MOST_BYTES = 64 * 1_024 * 1_024

interface Component {
  readonly 'bom-ref': string
}

interface Bill {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string }[]
}

/** Writes `<package>-<version>.cdx.json` for each package, from package-lock.json. */
export function writeBillsOfMaterials(out: string, version: string): void {
  const stage = mkdtempSync(join(tmpdir(), 'rollcall-sbom-'))
  try {
    for (const [name, text] of workspaceFiles(version)) {
      mkdirSync(dirname(join(stage, name)), { recursive: true })
      writeFileSync(join(stage, name), withoutDevelopment(text))
    }
    for (const { directory } of PACKAGES) {
      const { name } = manifestOf(directory)
      const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '-w', name]
      const printed = execFileSync('npm', words, {
        cwd: stage,
        encoding: 'utf8',
        maxBuffer: MOST_BYTES,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const bill = billOf(`${name}@${version}`, JSON.parse(printed) as Bill)
      const file = `${name.replace('@', '').replace('/', '-')}-${version}.cdx.json`
      writeFileSync(join(out, file), `${JSON.stringify(bill, null, 2)}\n`)
    }
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

interface Described {
  readonly dev?: boolean
  readonly devDependencies?: unknown
  readonly packages?: Readonly<Record<string, Described>>
}

/**
 * A manifest or lock file without what is for development. (`--omit dev` of npm sbom leaves out what is needed for both,
 * such as `pg`.)
 */
function withoutDevelopment(text: string): string {
  const clean = ({ devDependencies: _, packages, ...rest }: Described): Described => {
    if (packages === undefined) return rest
    const used = Object.entries(packages).filter(([, { dev }]) => dev !== true)
    return { ...rest, packages: Object.fromEntries(used.map(([path, one]) => [path, clean(one)])) }
  }
  return JSON.stringify(clean(JSON.parse(text) as Described))
}

/** npm describes the workspace, and the package as a part of it: the bill is of the package itself. */
function billOf(ref: string, bill: Bill): Bill {
  const component = bill.components.find((one) => one['bom-ref'] === ref)
  if (component === undefined) throw new Error(`npm sbom does not describe ${ref}`)
  const workspace = bill.metadata.component['bom-ref']
  return {
    ...bill,
    metadata: { ...bill.metadata, component },
    components: bill.components.filter((one) => one !== component),
    dependencies: bill.dependencies.filter((one) => one.ref !== workspace),
  }
}
