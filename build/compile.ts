/** Compiles one package of the workspace: `src/a/b.ts` becomes `lib/a/b.js`, at the same depth. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { compiledName, withCompiledNames } from './published-files.ts'

export const root = resolve(import.meta.dirname, '..')

const IMPORTED_SOURCE = /(\b(?:from|import)\s*\(?\s*(['"])\.{1,2}\/[^'"\n]+)\.ts\2/g
/** The entries for Node are type-checked with its types, all others without. */
const CONFIGS = ['tsconfig.json', 'tsconfig.node.json']
const FOR_TESTS = /\.test\.ts$|(?:^|\/)__snapshots__\//

/**
 * Writes JavaScript by taking the types out, as Node does when it runs the sources: what is published is what was
 * tested, with the same line numbers. Files that are not TypeScript are copied.
 * @param files of the package, as patterns: all sources and programs unless it says otherwise
 */
export function writeJavaScript(directory: string, out: string, files: readonly string[] = ['src/**/*.*', 'bin/*']): void {
  const source = join(root, directory)
  const names = globSync(files, { cwd: source }).filter((name) => !FOR_TESTS.test(name))
  for (const name of names) {
    const target = join(out, compiledName(name))
    // A copy keeps the mode of a program.
    cpSync(join(source, name), target)
    if (!/\.(?:ts|mjs)$/.test(name)) continue
    const text = readFileSync(target, 'utf8')
    const code = name.endsWith('.ts') ? stripTypeScriptTypes(text) : text
    writeFileSync(target, withCompiledNames(importsCompiled(code)))
  }
}

const importsCompiled = (code: string): string => code.replace(IMPORTED_SOURCE, '$1.js$2')

/** @param declarations of the packages that it imports: their names, with the folder of their declarations */
export function writeDeclarations(directory: string, out: string, declarations: ReadonlyMap<string, string>): void {
  const source = join(root, directory)
  const lib = join(out, 'lib')
  const paths = Object.fromEntries([...declarations].map(([name, folder]) => [name, [join(folder, 'index.d.ts')]]))
  for (const config of CONFIGS.map((name) => join(source, name)).filter((path) => existsSync(path))) {
    typeScript({
      extends: config,
      compilerOptions: {
        rootDir: join(source, 'src'),
        outDir: lib,
        paths,
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        typeRoots: [join(root, 'node_modules/@types')],
      },
    })
  }
  for (const name of globSync('**/*.d.ts', { cwd: lib })) {
    const file = join(lib, name)
    writeFileSync(file, importsCompiled(readFileSync(file, 'utf8')))
  }
}

/**
 * The declarations that programs see, without comments and without a check of types: by their paths below `packages`, such as
 * `client/src/index.d.ts`.
 * @param entries modules below `packages`; what they import by relative paths is declared too
 */
export function readDeclarations(entries: readonly string[]): ReadonlyMap<string, string> {
  const out = mkdtempSync(join(tmpdir(), 'rollcall-declarations-'))
  try {
    typeScript({
      extends: join(root, 'packages/client/tsconfig.node.json'),
      include: [],
      files: entries.map((entry) => join(root, 'packages', entry)),
      compilerOptions: {
        rootDir: join(root, 'packages'),
        outDir: out,
        noEmit: false,
        noCheck: true,
        removeComments: true,
        declaration: true,
        emitDeclarationOnly: true,
        // Found as a package, it would be one of others, which gets no declarations.
        paths: { '@rollcall/protocol': [join(root, 'packages/protocol/src/index.ts')] },
        typeRoots: [join(root, 'node_modules/@types')],
      },
    })
    const names = globSync('**/*.d.ts', { cwd: out })
    return new Map(names.map((name) => [name, readFileSync(join(out, name), 'utf8')]))
  } finally {
    rmSync(out, { recursive: true })
  }
}

function typeScript(configuration: object): void {
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-build-'))
  try {
    const project = join(directory, 'tsconfig.json')
    writeFileSync(project, JSON.stringify(configuration))
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], { stdio: ['ignore', 2, 2] })
  } finally {
    rmSync(directory, { recursive: true })
  }
}
