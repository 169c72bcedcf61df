/**
 * Bundles the command: two thirds of the time of a short command goes into finding and reading 1,200 small modules. What code finds
 * by its own address (threads, pages, commands of child processes) stays in `lib/` and is named from there.
 * Run as a program: `node build/bundle.ts <package> <folder in the package>`.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type OutputChunk, type RolldownPlugin, rolldown } from 'rolldown'

/** Our packages, and packages of others that are made of many small modules. All others are loaded from node_modules. */
const BUNDLED = /^(?:\.|\/|@rollcall\/|@oxc-project\/|typebox|kysely|jose|graphql)/

/**
 * @param input the modules that are started, by name: `main` becomes `entry-main.js`
 * @param addressOf the expression that takes the place of `import.meta.url` in a source
 */
export async function writeBundle(
  input: Readonly<Record<string, string>>,
  folder: string,
  addressOf: (path: string) => string,
): Promise<readonly OutputChunk[]> {
  const addresses: RolldownPlugin = {
    name: 'addresses of sources',
    transform(code, path) {
      if (!/import\.meta\.(?:url|dirname)/.test(code)) return null
      const url = addressOf(path)
      return code.replaceAll('import.meta.url', url).replaceAll('import.meta.dirname', folderOf(url))
    },
  }
  const bundle = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    external: (id) => !BUNDLED.test(id),
    plugins: [addresses],
  })
  const { output } = await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'entry-[name].js' })
  await bundle.close()
  return output.filter((part) => part.type === 'chunk')
}

/** The expression for the folder of a source. It needs no import, which the source may not have. */
const folderOf = (url: string): string =>
  `process.getBuiltinModule('node:path').dirname(process.getBuiltinModule('node:url').fileURLToPath(${url}))`

/** Bundles `lib/main.js` of a package that was built, with the licences of the packages of others that are in the bundle. */
async function bundlePackage(directory: string, folder: string): Promise<void> {
  const chunks = await writeBundle({ main: join(directory, 'lib/main.js') }, join(directory, folder), (path) => {
    const from = relative(join(directory, folder), path)
    return `new URL(${JSON.stringify(from)}, import.meta.url).href`
  })
  const others = new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)))
  const licences = [...others].toSorted().map((other) => {
    const { name, version, license } = JSON.parse(readFileSync(join(other, 'package.json'), 'utf8'))
    const texts = globSync('{licen[cs]e,LICEN[CS]E}*', { cwd: other }).map((file) => readFileSync(join(other, file), 'utf8'))
    return `${name} ${version} (${license})\n\n${texts.join('\n')}`
  })
  writeFileSync(join(directory, folder, 'LICENSES.txt'), licences.join(`\n${'-'.repeat(80)}\n`))
}

/** The folder of the package of others that a module is a part of. */
function packageOf(module: string): readonly string[] {
  if (!/\/node_modules\/(?!@rollcall\/)/.test(module)) return []
  let folder = dirname(module)
  while (!/\/node_modules\/(?:@[^/]+\/)?[^/]+$/.test(folder)) folder = dirname(folder)
  return existsSync(join(folder, 'package.json')) ? [folder] : []
}

if (import.meta.main) {
  const [directory = '', folder = ''] = process.argv.slice(2)
  await bundlePackage(directory, folder)
}
