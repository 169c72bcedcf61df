/**
 * Makes a release: its files (release-files.ts) and its notes in `dist/release/<version>`, the version, the changelog, a commit
 * and a tag. It publishes nothing.
 *
 *   npm run release -- 0.2.0 --dry-run   # says what it would do, and makes the files alone
 *   npm run release -- 0.2.0             # says what it will do, asks, and does it
 *   npm run release -- 0.2.0 --yes       # does not ask, as where there is no terminal
 *
 * Without a version it is that of package.json.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { BACKUP_FIXTURES, commandOf, writeBackupFixture } from './backup-fixture.ts'
import { manifestOf } from './build-package.ts'
import { root } from './compile.ts'
import { confirm } from './confirm.ts'
import { say, writeReleaseFiles } from './release-files.ts'
import { lostSurfaces, writeSurfaces } from './surfaces.ts'
import { ReleaseRefused, releasedChangelog } from './versions.ts'
import { workspaceFiles } from './workspace-files.ts'

const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()

async function release(words: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { 'dry-run': { type: 'boolean', default: false }, yes: { type: 'boolean', default: false } },
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
  const versions = workspaceFiles(version)
  const plan = [
    `Release ${version} of ${today}:`,
    `  makes the files of the release in ${relative(root, out)}`,
    `  writes the version into ${[...versions.keys()].join(', ')}`,
    '  makes "Unreleased" of CHANGELOG.md the section of the version, and stores the public surfaces',
    '  stores a small backup of this version, which later versions restore in their tests',
    `  commits all this, and tags the commit as v${version}; publishes nothing`,
  ]
  // A dry run needs no answer from anybody.
  await confirm(plan, values.yes || values['dry-run'])

  const notes = `# Rollcall ${version}\n\n${changelog.section}\n`
  const tarballs = writeReleaseFiles(out, version, { 'notes.md': notes })
  if (values['dry-run']) {
    say('A dry run: no other file was changed, nothing was committed, nothing was published.')
    return
  }
  writeFileSync(file, changelog.text)
  for (const [name, text] of versions) writeFileSync(join(root, name), text)
  await writeSurfaces()
  const backup = join(BACKUP_FIXTURES, `${version}.backup`)
  await writeBackupFixture(commandOf(root), backup)
  git('add', backup)
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
  throw new ReleaseRefused(`Only a new major version may take something away from the public surfaces:\n${lost.join('\n')}`)
}

try {
  await release(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ReleaseRefused)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
