/** The examples in other languages, as programs that a test runs. Their tools are not of npm: `.ci/run` installs them. */
import { type ChildProcessWithoutNullStreams, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import { programOrSkip } from '../../test/programs.ts'

type Skips = Pick<TestContext, 'skip'>

export interface Language {
  readonly name: string
  /** The digest prefixes of the layout `parameters` that the example claims. */
  readonly prefixes: readonly string[]
  /** The algorithms that it claims. */
  readonly algorithms: readonly string[]
  /**
   * The words that start a program of the example. Where this machine lacks something, the test is skipped, and the reason said.
   * @param folder where compiled files are kept
   */
  readonly words: (context: Skips, program: keyof typeof CLASSES, folder: string) => Promise<readonly string[]>
}

/** The programs, and their classes in Java. */
const CLASSES = { vectors: 'Vectors', try_demo: 'TryDemo', receive: 'Receive' } as const

const examples = join(import.meta.dirname, '..')

/** A Python with the package `cryptography`: that of the system, because others come without packages. */
export function pythonOrSkip(context: Skips): string {
  for (const python of ['/usr/bin/python3', 'python3']) {
    try {
      execFileSync(python, ['-c', 'import cryptography'], { stdio: 'ignore' })
      return python
    } catch {
      // It is not installed, or lacks the package.
    }
  }
  return context.skip('python3 with the package cryptography is not installed')
}

export const PYTHON: Language = {
  name: 'python',
  prefixes: ['', 'SHA-256=', 'BLAKE-512='],
  algorithms: ['EdDSA', 'ES256', 'RS256'],
  words: async (context, program) => [pythonOrSkip(context), '-B', join(examples, 'python', `${program}.py`)],
}

/** Jackson, where Debian's package has it. */
const JARS = ['core', 'databind', 'annotations'].map((name) => `/usr/share/java/jackson-${name}.jar`)
/** For `SpringReceiver.java`, where Debian's packages of Spring and of the Servlet API have them. */
export const SPRING_JARS = ['spring3-core', 'spring3-web', 'jakarta-servlet-api'].map((name) => `/usr/share/java/${name}.jar`)
const PROGRAMS = ['Rollcall', 'ReceiverHttp', ...Object.values(CLASSES)]

/**
 * The words before the name of a class; the example is compiled the first time.
 * @param sources the classes that are compiled
 */
export async function javaOrSkip(context: Skips, folder: string, sources = PROGRAMS): Promise<string[]> {
  const [java, javac] = [programOrSkip(context, 'java'), programOrSkip(context, 'javac')]
  if (!JARS.every((jar) => existsSync(jar))) return context.skip('Jackson (libjackson2-databind-java) is not installed')
  const files = sources.map((name) => join(examples, 'java', `${name}.java`))
  const path = [folder, ...JARS].join(':')
  if (!existsSync(join(folder, 'Rollcall.class'))) {
    const quickly = ['-J-XX:TieredStopAtLevel=1', '-J-XX:+UseSerialGC']
    await promisify(execFile)(javac, [...quickly, '-Xlint:all,-serial', '-Werror', '-cp', path, '-d', folder, ...files])
  }
  // Programs of a second are not worth the time of the second compiler.
  return [java, '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', path]
}

export const JAVA: Language = {
  name: 'java',
  prefixes: [''],
  algorithms: ['EdDSA'],
  words: async (context, program, folder) => [...(await javaOrSkip(context, folder)), CLASSES[program]],
}

/** Starts a program of the example; it gets its own environment and these variables. */
export function started(
  words: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): ChildProcessWithoutNullStreams {
  const [program = '', ...others] = words
  const options = { env: { PATH: process.env.PATH ?? '', ...env }, stdio: 'pipe' as const }
  return spawn(program, others, cwd === undefined ? options : { ...options, cwd })
}

/** Runs a program to its end, also where that is a failure. @param env variables beside PATH */
export async function ended(words: readonly string[], input = '', env: Record<string, string> = {}) {
  const [program = '', ...others] = words
  const options = { maxBuffer: 1e8, env: { PATH: process.env.PATH ?? '', ...env } }
  const running = promisify(execFile)(program, others, options)
  running.child.stdin?.end(input)
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )
}
