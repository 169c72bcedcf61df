/**
 * A Chromium for tests of pages, from npm alone: nothing is downloaded, and of the machine only the C library is used.
 * The package is meant for cloud functions. It has the shared libraries and fonts of their system, and unpacks them
 * when it finds itself on that system. Here it runs in a process whose environment looks so, with a folder of ours.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { madeOnce } from '../../database/test/made-once.ts'

export interface TestBrowser {
  readonly browser: Browser
  /** Ends the browser and removes its files. */
  close(): Promise<void>
}

/** The name of a system whose libraries the package unpacks (its `isRunningInAmazonLinux2023`). */
const SYSTEM_WITH_LIBRARIES = 'nodejs22.x'
const UNPACK = `
  import chromium from '@sparticuz/chromium'
  await chromium.executablePath()`

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
  // No renderer is started before a page needs it. Each browser context has a renderer of its own all the same.
  '--renderer-process-limit=1',
  // No other host is reached, whatever a page asks for.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/**
 * Starts a Chromium, which takes about a second, and three for the first of a test run.
 * @throws the unpacked Chromium does not run on this machine
 */
export async function openBrowser(): Promise<TestBrowser> {
  const folder = await unpacked()
  const home = await mkdtemp(join(tmpdir(), 'rollcall-browser-'))
  const remove = () => rm(home, { recursive: true, force: true })
  try {
    const fonts = join(home, 'fonts.conf')
    await writeFile(fonts, fontSettings(folder))
    const browser = await chromium.launch({
      executablePath: join(folder, 'chromium'),
      args: ARGUMENTS,
      env: { HOME: home, TMPDIR: home, FONTCONFIG_FILE: fonts, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') },
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

/** Makes the font settings. Those of the package name fixed folders, and without any font Chromium ends itself. */
const fontSettings = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>
`

/** Unpacks Chromium with its libraries and fonts, once in a test run. @returns the folder that has them */
const unpacked = (): Promise<string> =>
  madeOnce('browser', (fresh) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK], {
      cwd: import.meta.dirname,
      env: { PATH: process.env.PATH, TMPDIR: fresh, HOME: fresh, AWS_LAMBDA_JS_RUNTIME: SYSTEM_WITH_LIBRARIES },
    }),
  )
