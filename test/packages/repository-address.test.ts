/** The address of the repository is set by hand before the first publishing: CONTRIBUTING.md names each file that has it. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const [, address = ''] = /`(github\.com\/[^`]+)` is a placeholder/.exec(contributing) ?? []

it('no file has it that CONTRIBUTING.md does not name', () => {
  const files = globSync('{*.{md,json},{build,deploy,docs,examples,packages}/**/*.{md,json,ts,tsx,html,yaml}}', {
    exclude: (path) => ['node_modules', 'dist'].includes(basename(path)),
  })
  const having = files.filter((file) => readFileSync(file, 'utf8').includes(address))
  const manifests = having.filter((file) => file.endsWith('package.json'))
  const others = having.filter((file) => !file.endsWith('package.json') && file !== 'CONTRIBUTING.md')
  expect(manifests.length).toBeGreaterThan(0)
  expect(others.length).toBeGreaterThan(0)
  expect(others.filter((file) => !contributing.includes(`\`${file}\``))).toEqual([])
})

it('each manifest that names a repository names this one', () => {
  const manifests = globSync('packages/*/package.json').map(
    (file) => JSON.parse(readFileSync(file, 'utf8')) as { repository?: { url: string } },
  )
  const urls = new Set(manifests.flatMap(({ repository }) => repository?.url ?? []))
  expect([...urls]).toEqual([`git+https://${address}.git`])
})
