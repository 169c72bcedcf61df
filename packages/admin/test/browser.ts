/**
 * A Chromium for tests of pages, from npm alone: nothing is downloaded and nothing of the machine is used but its
 * C library. The package meant for cloud functions brings the shared libraries and fonts of their system along
 * and unpacks them where it believes to run on one; so it is told in a process of its own, with a folder of ours.
 */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

export interface TestBrowser {
  readonly browser: Browser
  /** Ends the browser and removes its files. */
  close(): Promise<void>
}

/** The name of a system whose libraries the package unpacks (its `isRunningInAmazonLinux2023`). */
const SYSTEM_WITH_LIBRARIES = 'nodejs22.x'
const UNPACK = `
  import chromium from '@sparticuz/chromium'
  process.stdout.write(await chromium.executablePath())`

const ARGUMENTS = [
  // Chromium refuses to run as root with its sandbox, and needs it for pages of strangers; these are ours.
  '--no-sandbox',
  '--no-zygote',
  // Containers give little shared memory.
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-pings',
]

/** Takes about a second, and three for the first of a worker. Throws where the unpacked Chromium does not run. */
export async function openBrowser(): Promise<TestBrowser> {
  unpacking ??= unpack()
  const unpacked = await unpacking
  const home = await mkdtemp(join(tmpdir(), 'rollcall-browser-'))
  const remove = () => rm(home, { recursive: true, force: true })
  try {
    const fonts = join(home, 'fonts.conf')
    await writeFile(fonts, fontSettings(unpacked.folder))
    const browser = await chromium.launch({
      executablePath: unpacked.program,
      args: ARGUMENTS,
      env: {
        HOME: home,
        TMPDIR: home,
        FONTCONFIG_FILE: fonts,
        LD_LIBRARY_PATH: join(unpacked.folder, 'al2023', 'lib'),
      },
    })
    return {
      browser,
      async close() {
        await browser.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The package's own settings name fixed folders; without any font Chromium ends itself. */
const fontSettings = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>
`

interface Unpacked {
  readonly folder: string
  /** The path of Chromium. */
  readonly program: string
}

/** What all browsers of a worker share. */
let unpacking: Promise<Unpacked> | undefined

/** Unpacks Chromium, its libraries and fonts into a folder that goes with the worker. */
async function unpack(): Promise<Unpacked> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-chromium-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { stdout: program } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK], {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, TMPDIR: folder, HOME: folder, AWS_LAMBDA_JS_RUNTIME: SYSTEM_WITH_LIBRARIES },
  })
  return { folder, program }
}
