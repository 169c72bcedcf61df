/** `npm ci --omit=dev` in a clone: the script that npm runs at its end needs nothing that was left out. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('the script `prepare` builds nothing where the packages for development are missing, and does not fail', async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { prepare: string } }
  const clone = mkdtempSync(join(tmpdir(), 'rollcall-omit-dev-'))
  const sources = 'packages/console/build'
  cpSync(sources, join(clone, sources), { recursive: true })
  const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(':')
  const printed = await promisify(execFile)('sh', ['-c', scripts.prepare], { cwd: clone, env: { PATH } })
  const isBuilt = existsSync(join(clone, 'packages/console/dist'))
  rmSync(clone, { recursive: true })
  expect([printed, isBuilt]).toEqual([{ stdout: '', stderr: '' }, false])
})
