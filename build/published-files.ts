/**
 * How a source names the files that it needs at run time: a worker thread, a child process, a file that it reads.
 * There is one way, so that it holds in the workspace and in a compiled package:
 *
 *   new URL('./thread.ts', import.meta.url)
 *
 * The build copies every file of `src` that is not TypeScript, and such a literal names the compiled file then.
 */
import { existsSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'

const NAMED = /\bnew URL\('(\.{1,2}\/[^'${}]*)', import\.meta\.url\)/g
/** What else a source may do with `import.meta`: find a package that is installed beside it, or ask whether it was started. */
const ALLOWED = /\bcreateRequire\(import\.meta\.url\)|\bimport\.meta\.main\b/g
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

/**
 * What a compiled package could not find.
 * @param file path of a source
 * @param source its text
 * @param package_directory of which the file is a part
 * @returns a sentence for each problem
 */
export function unpublishedFiles(file: string, source: string, package_directory: string): readonly string[] {
  const code = source.replace(COMMENT, '')
  const missing = [...code.matchAll(NAMED)]
    .map(([, path = '']) => path)
    // A path without an extension is a folder, into which the program writes.
    .filter((path) => extname(path) !== '')
    .filter((path) => !isPublished(join(dirname(file), path), package_directory))
    .map((path) => `${file}: ${path} is not in src/ of its package`)
  const others =
    code
      .replace(NAMED, '')
      .replace(ALLOWED, '')
      .match(/\bimport\.meta\b.*/g) ?? []
  return [...missing, ...others.map((use) => `${file}: ${use}: write new URL('./file', import.meta.url) with a literal`)]
}

function isPublished(path: string, package_directory: string): boolean {
  const inside = relative(package_directory, path)
  return (inside === 'package.json' || inside.startsWith('src/')) && existsSync(path)
}

/** Where a source stands in the compiled package: `src/a/b.ts` is `lib/a/b.js`. */
export const compiledName = (path: string): string => path.replace(/^((?:\.\.?\/)*)src\//, '$1lib/').replace(/\.ts$/, '.js')

/** The text of a compiled file, with the names of compiled files. */
export const withCompiledNames = (code: string): string =>
  code.replace(NAMED, (whole, path: string) => whole.replace(path, compiledName(path)))
