/** The check at the end of a run, of a run of its own. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const MODULE = join(import.meta.dirname, 'run-folder.ts')

/** Uses a folder for temporary files, does this, and ends. */
function run(work: string) {
  const parent = mkdtempSync(join(tmpdir(), 'rollcall-of-a-run-'))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  const code = `import { useRunFolder } from ${JSON.stringify(MODULE)}
    import { writeFileSync } from 'node:fs'
    import { spawn } from 'node:child_process'
    useRunFolder(${JSON.stringify(parent)}, 200)
    ${work}`
  const { ROLLCALL_TEST_RUN: _, ...env } = process.env
  const words = ['--input-type=module', '--eval', code]
  const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
  return { status, stderr, left: readdirSync(parent) }
}

it('says nothing of a run that leaves nothing', () => {
  expect(run('')).toEqual({ status: 0, stderr: '', left: [] })
})

it('fails a run that leaves a file, and removes it', () => {
  const { status, stderr, left } = run("writeFileSync(process.env.TMPDIR + '/forgotten', '')")
  expect({ status, left }).toEqual({ status: 1, left: [] })
  expect(stderr).toMatch(/^The test run left behind:\n {2}file \S+\/forgotten\n$/)
})

it.runIf(process.platform === 'linux')('fails a run that leaves a process, and ends it', () => {
  const { status, stderr } = run("spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).unref()")
  expect(status).toBe(1)
  const [, pid = ''] = /^The test run left behind:\n {2}process (\d+): sleep 600 \n$/.exec(stderr) ?? []
  // Nobody may have asked for its exit code yet, but it runs no more.
  expect(spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout).not.toMatch(/^[^Z]/)
})
