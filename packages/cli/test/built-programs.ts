/**
 * The programs that tests start, built into few files as the published command is: most of a start goes into the 1,700 modules
 * of a command. They do what the sources do, because a source names other files by `new URL('./file', import.meta.url)` alone
 * (build/published-files.ts), and here this keeps the address of the source.
 */
import { rmSync } from 'node:fs'
import { chmod, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { writeBundle } from '../../../build/bundle.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const SOURCES = {
  rollcall: join(ROOT, 'packages/cli/src/main.ts'),
  /** The command of a version after this one. */
  next: join(ROOT, 'packages/cli/test/upgrade/next-version-main.ts'),
  example: join(ROOT, 'examples/sp-system/main.ts'),
  /** The process that runs commands one after the other, and what calls it from a shell. */
  host: join(ROOT, 'packages/cli/test/command-host.ts'),
  client: join(ROOT, 'packages/cli/test/command-client.ts'),
  // Processes that tests kill.
  audited: join(ROOT, 'packages/settings/test/audit-log-child.ts'),
  enrolling: join(ROOT, 'packages/engine/test/enrolment-child.ts'),
  following: join(ROOT, 'packages/source/test/follow-alone.ts'),
}

type Programs = Readonly<Record<keyof typeof SOURCES, string>>

declare module 'vitest' {
  export interface ProvidedContext {
    /** The paths of the programs, and their folder, which may get more that all tests of a run share. */
    programs: Programs & { readonly folder: string }
  }
}

/** Builds the programs once in a run, and again when Vitest has seen a source change. They are removed at the end of the run. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-programs-'))
  process.prependOnceListener('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  // Some tests start the command as another user.
  await chmod(folder, 0o755)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const names = Object.keys(SOURCES)
  const programs = Object.fromEntries(names.map((name) => [name, join(folder, `${name}.js`)])) as Programs
  for (const [name, path] of Object.entries(programs)) await writeFile(path, program(name))
  await build(folder)
  project.onTestsRerun(() => build(folder))
  project.provide('programs', { ...programs, folder })
}

/** A source keeps its own address, from which it names other files. */
async function build(folder: string): Promise<void> {
  await writeBundle(SOURCES, folder, (path) => JSON.stringify(pathToFileURL(path).href))
}

/** A program that caches compiled code in the folder too: the first enabled cache is used, so the command's is not. */
const program = (name: string): string => `import { enableCompileCache } from 'node:module'
enableCompileCache(import.meta.dirname + '/cache')
await import('./entry-${name}.js')
`
