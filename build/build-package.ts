/**
 * Builds a package for publishing: JavaScript, declarations where programs import it, README and licence, in a directory
 * that is a package of its own. The workspace itself needs no build; its package.json points to the sources
 * (docs/decisions/published-packages.md).
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, writeDeclarations, writeJavaScript } from './compile.ts'
import { PACKAGES, type PublishedPackage } from './packages.ts'
import { compiledName } from './published-files.ts'
import { type ByName, type Manifest, withVersion } from './versions.ts'

/** @param version to say instead of that of the workspace, of the package and of the workspace's packages that it needs */
export function manifestOf(directory: string, version?: string): Manifest {
  const manifest = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')) as Manifest
  return version === undefined ? manifest : withVersion(manifest, version)
}

/**
 * Builds packages into `out`, each in a folder of its name, after the packages of the workspace that they import.
 * @returns the folders, by the directory of the package in the workspace
 */
export function buildPackages(
  out: string,
  packages: readonly PublishedPackage[] = PACKAGES,
  options: BuildOptions = {},
): ReadonlyMap<string, string> {
  const built = new Map<string, string>()
  // Declarations name types of other packages, which are found above `out`.
  const modules = join(out, 'node_modules')
  mkdirSync(out, { recursive: true })
  symlinkSync(join(root, 'node_modules'), modules)
  try {
    for (const row of packages) {
      const to = join(out, manifestOf(row.directory).name)
      buildPackage(row, to, built, options)
      built.set(row.directory, to)
    }
  } finally {
    rmSync(modules)
  }
  return built
}

interface BuildOptions {
  /** That of the workspace unless given. */
  readonly version?: string | undefined
  /** Whether declarations are written; true unless given. */
  readonly declarations?: boolean
}

function buildPackage(
  row: PublishedPackage,
  to: string,
  built: ReadonlyMap<string, string>,
  { version, declarations = true }: BuildOptions,
): void {
  const { directory, bundles = [], folders = [] } = row
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  const manifest = manifestOf(directory, version)
  writeJavaScript(directory, to)
  if (manifest.exports !== undefined && declarations) {
    const others = [...built].map(([other, folder]) => [manifestOf(other).name, join(folder, 'lib')] as const)
    writeDeclarations(directory, to, new Map(others))
  }
  const bundled = bundles.map((other) => manifestOf(other, version))
  writeJson(join(to, 'package.json'), publishedManifest(row, manifest, bundled))
  for (const [at, other] of bundles.entries()) {
    const inside = join(to, 'node_modules', bundled[at]?.name ?? '')
    writeJavaScript(other, inside, manifestOf(other).files)
    writeJson(join(inside, 'package.json'), bundledManifest(manifestOf(other, version)))
    cpSync(join(root, 'LICENSE'), join(inside, 'LICENSE'))
  }
  if (row.bundle !== undefined) writeBundle(to, row.bundle)
  for (const folder of folders) cpSync(join(root, folder), join(to, folder), { recursive: true })
  for (const file of [join(root, 'LICENSE'), join(root, directory, 'README.md')]) {
    if (existsSync(file)) cpSync(file, join(to, file.split('/').at(-1) ?? ''))
  }
}

/** Bundles the command, and lets its program start the bundle. */
function writeBundle(to: string, { program, folder }: NonNullable<PublishedPackage['bundle']>): void {
  execFileSync(process.execPath, [join(root, 'build/bundle.ts'), to, folder], { stdio: ['ignore', 2, 2] })
  const path = join(to, program)
  writeFileSync(path, readFileSync(path, 'utf8').replace('../lib/main.js', `../${folder}/entry-main.js`))
}

/** Makes the package.json of a published package, whose sources are compiled. */
function publishedManifest(row: PublishedPackage, manifest: Manifest, bundled: readonly Manifest[]): object {
  const { exports, scripts: _scripts, devDependencies: _dev, private: _private, ...rest } = manifest
  const all = [manifest, ...bundled]
  const optionalDependencies = merged(all, 'optionalDependencies')
  return {
    ...rest,
    engines: row.engines,
    // A package without `exports` of its own exports only its package.json.
    exports: exports === undefined ? { './package.json': './package.json' } : compiledExports(exports, true),
    dependencies: merged(all, 'dependencies'),
    ...(Object.keys(optionalDependencies).length > 0 && { optionalDependencies }),
    ...(bundled.length > 0 && { bundleDependencies: bundled.map(({ name }) => name) }),
  }
}

/** Its dependencies are those of the package that holds it. */
function bundledManifest({ name, version, license, type, exports }: Manifest): object {
  return { name, version, license, type, exports: compiledExports(exports ?? {}, false) }
}

function compiledExports(exports: ByName, declarations: boolean): object {
  const entries = Object.entries(exports).map(([name, source]) => {
    const built = compiledName(source)
    return [name, declarations ? { types: built.replace(/\.js$/, '.d.ts'), default: built } : built]
  })
  return Object.fromEntries(entries)
}

/** @throws Error where two packages need different versions: one folder has one */
function merged(all: readonly Manifest[], member: 'dependencies' | 'optionalDependencies'): ByName {
  const ranges = new Map<string, string>()
  for (const [name, range] of all.flatMap((manifest) => Object.entries(manifest[member] ?? {}))) {
    const other = ranges.get(name)
    if (other !== undefined && other !== range) throw new Error(`${name} is needed as ${other} and as ${range}`)
    ranges.set(name, range)
  }
  return Object.fromEntries([...ranges].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const writeJson = (path: string, value: object): void => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
