/**
 * Builds a package for publishing: JavaScript and declarations, in a directory that is a package of its own. The
 * workspace itself needs no build; its package.json points to the sources (docs/decisions/published-packages.md).
 *
 *   node build/build-package.ts packages/client      # packages/client/dist, and dist of what it depends on
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const SCOPE = '@rollcall/'
/** What published packages run on; the workspace brings its own Node. */
const ENGINES = { node: '>=22' }
/** The entries for Node are compiled with its types, all others without. */
const CONFIGS = ['tsconfig.json', 'tsconfig.node.json']

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

/** Where the build of a package goes, by its directory in the workspace. */
export type OutOf = (directory: string) => string

const distOf: OutOf = (directory) => join(directory, 'dist')

/**
 * Builds a package after the packages of the workspace that it depends on.
 * @param directory of the package, such as `packages/client`
 * @returns the directories that were written
 */
export function buildPackage(directory: string, outOf: OutOf = distOf): readonly string[] {
  const from = resolve(directory)
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Manifest
  const own = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith(SCOPE))
  const needed = own.map((name) => join(root, 'packages', name.slice(SCOPE.length)))
  const built = needed.flatMap((dependency) => buildPackage(dependency, outOf))
  const out = outOf(from)
  rmSync(out, { recursive: true, force: true })
  const paths = Object.fromEntries(
    own.map((name, at) => [name, [join(outOf(needed[at] ?? ''), 'index.d.ts')]]),
  )
  for (const config of CONFIGS)
    compile(join(from, config), { rootDir: join(from, 'src'), outDir: out, paths })
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'))
  return [...built, out]
}

function compile(config: string, options: object): void {
  if (!existsSync(config)) return
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-build-'))
  const compilerOptions = {
    ...options,
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  try {
    const project = join(directory, 'tsconfig.json')
    writeFileSync(project, JSON.stringify({ extends: config, compilerOptions }))
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
      stdio: ['ignore', 2, 2],
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** What the package says of itself once its sources are compiled. */
function publishedManifest({ exports, scripts: _scripts, private: _private, ...rest }: Manifest): object {
  const entries = Object.entries(exports).map(([name, source]) => {
    const built = source.replace('./src/', './').replace(/\.ts$/, '')
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }]
  })
  return { ...rest, engines: ENGINES, exports: Object.fromEntries(entries) }
}

if (import.meta.main) {
  const [directory = '.'] = process.argv.slice(2)
  for (const out of buildPackage(directory)) {
    process.stdout.write(`${basename(resolve(out, '..'))}: ${out}\n`)
  }
}
