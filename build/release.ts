/**
 * Makes a release: the tarballs, a software bill of materials for each, the notes, and checksums, in `dist/release/<version>`.
 *
 *   npm run release -- 0.2.0 --dry-run   # makes these files, and changes nothing else
 *   npm run release -- 0.2.0             # also writes the version and the changelog, commits and tags; publishes nothing
 *
 * Without a version it is that of package.json.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { manifestOf } from './build-package.ts'
import { root } from './compile.ts'
import { packAll } from './pack.ts'
import { writeBillsOfMaterials } from './sbom.ts'
import { lostSurfaces, writeSurfaces } from './surfaces.ts'
import { ReleaseRefused, releasedChangelog } from './versions.ts'
import { workspaceFiles } from './workspace-files.ts'

const SUMS = 'SHA256SUMS'

const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()

async function release(words: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { 'dry-run': { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [version = manifestOf('.').version, ...others] = positionals
  if (others.length > 0) throw new ReleaseRefused(`one version, not also ${others.join(', ')}`)
  if (git('status', '--porcelain') !== '') {
    throw new ReleaseRefused('The working tree has changes. Commit them, or put them away with git stash -u.')
  }
  const file = join(root, 'CHANGELOG.md')
  const today = new Date().toISOString().slice(0, 10)
  const changelog = releasedChangelog(readFileSync(file, 'utf8'), version, today)

  refuseLost(version, await lostSurfaces())

  const out = join(root, 'dist/release', version)
  rmSync(out, { recursive: true, force: true })
  const tarballs = packAll(out, version)
  writeBillsOfMaterials(out, version)
  writeFileSync(join(out, 'notes.md'), `# Rollcall ${version}\n\n${changelog.section}\n`)
  writeChecksums(out)
  say(`${relative(root, out)}:`, ...readdirSync(out).map((name) => `  ${name}`))
  if (values['dry-run']) {
    say('A dry run: no other file was changed, nothing was committed, nothing was published.')
    return
  }
  writeFileSync(file, changelog.text)
  for (const [name, text] of workspaceFiles(version)) writeFileSync(join(root, name), text)
  await writeSurfaces()
  git('commit', '--all', '--quiet', '--message', `Release ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Rollcall ${version}`)
  say(
    `Committed and tagged as v${version}. Nothing was published. To publish (CONTRIBUTING.md, "Make a release"):`,
    `  git push --follow-tags`,
    ...tarballs.map(({ path }) => `  npm publish ./${relative(root, path)} --provenance --access public`),
  )
}

/** Within a major version the public surfaces only grow. */
function refuseLost(version: string, lost: readonly string[]): void {
  const major = (text: string): number => Number(text.split('.')[0])
  if (lost.length === 0 || major(version) > major(manifestOf('.').version)) return
  throw new ReleaseRefused(
    `Only a new major version may take something away from the public surfaces:\n${lost.join('\n')}`,
  )
}

/** As `sha256sum --check SHA256SUMS` reads them. */
function writeChecksums(out: string): void {
  const lines = readdirSync(out)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(out, SUMS), lines.join(''))
}

const say = (...lines: string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

try {
  await release(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ReleaseRefused)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
