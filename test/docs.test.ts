import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GROUPS } from '../docs/.vitepress/pages.ts'
import { slug } from '../docs/.vitepress/slug.ts'

const root = join(import.meta.dirname, '..')
const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md', 'examples/*/*.md'], { cwd: root })

const text = (page: string): string => readFileSync(join(root, page), 'utf8')

/** The anchors of a page: its headings, those that repeat with a number. */
const anchors = (page: string): Set<string> => {
  const prose = text(page).replaceAll(/^ *```.*?^ *```/gms, '')
  const seen = new Map<string, number>()
  return new Set(
    [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
      const name = slug(heading.replaceAll(/\]\([^)]*\)/g, ''))
      const before = seen.get(name) ?? 0
      seen.set(name, before + 1)
      return before === 0 ? name : `${name}-${before}`
    }),
  )
}

const isDead = (page: string, link: string): boolean => {
  if (/^https?:/.test(link)) return false
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return true
  return anchor !== undefined && target.endsWith('.md') && !anchors(target).has(anchor)
}

describe.each(pages)('%s', (page) => {
  it('has no dead link', () => {
    const links = [...text(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '')
    expect(links.filter((link) => isDead(page, link))).toEqual([])
  })
})

describe('the site of the documents', () => {
  const file = (address: string): string => `docs/${address.replace(/\/$/, '/README')}.md`
  const listed = GROUPS.flatMap((group) => group.pages.map(([address]) => file(address)))

  it('lists every page once, in one place', () => {
    const written = pages.filter((page) => /^docs\/(?!decisions\/(?!README))/.test(page) && page !== 'docs/index.md')
    expect(listed.toSorted()).toEqual(written.toSorted())
  })

  it('begins with links to pages', () => {
    const links = [...text('docs/index.md').matchAll(/link: \/([\w-]+)/g)].map(([, address = '']) => address)
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter((address) => !listed.includes(file(address)))).toEqual([])
  })

  it.each(globSync('docs/pictures/*.svg', { cwd: root }))('%s can be read aloud', (picture) => {
    const [, title = '', description = ''] = /<title[^>]*>([^<]+)<\/title>\s*<desc[^>]*>([^<]+)<\/desc>/.exec(text(picture)) ?? []
    expect(title).toMatch(/\w+/)
    expect(description).toMatch(/^[A-Z].*\.$/)
    expect(text(picture)).toMatch(/<svg [^>]*role="img" aria-labelledby=/)
  })
})

describe('README.md', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }

  it('names commands that exist', () => {
    const used = [...text('README.md').matchAll(/npm (?:run )?([a-z]+)/g)].map(([, name]) => name ?? '')
    expect(used).toContain('start')
    expect(used.filter((name) => name !== 'ci' && scripts[name] === undefined)).toEqual([])
  })

  it('is what CI runs', () => {
    const ci = text('.ci/run')
    expect(ci).toContain('npm ci')
    expect(ci).toContain('npm test')
  })
})

describe('decisions', () => {
  const index = text('docs/decisions/README.md')
  const decisions = globSync('docs/decisions/*.md', { cwd: root }).filter((page) => !page.endsWith('README.md'))

  it.each(decisions)('%s has its date, says where it shows, and stands in the index', (page) => {
    const decision = text(page)
    const [, title = ''] = /^# (.+)\n\n\d{4}-\d\d-\d\d/.exec(decision) ?? []
    expect(decision).toMatch(/^Where it shows: \S/m)
    expect(index).toContain(`- [${title}](${page.split('/').at(-1)})\n`)
  })
})

describe('code', () => {
  it('points to pages that exist', () => {
    const sources = globSync(['packages/*/src/**/*.ts', 'bench/**/*.ts', 'conformance/**/*.ts'], { cwd: root })
    const named = sources.flatMap((source) => text(source).match(/\bdocs\/[\w/-]+\.md/g) ?? [])
    expect([...new Set(named)].filter((page) => !existsSync(join(root, page)))).toEqual([])
  })
})

describe('the variables of docs/settings.md and docs/limits.md', () => {
  it('are those that the configuration reads', () => {
    const read = text('packages/settings/src/config.ts').match(/'([A-Z]+_[A-Z_]+|HOST|PORT)'/g) ?? []
    const pages = text('docs/settings.md') + text('docs/limits.md') + text('docs/keys.md')
    expect(read.map((name) => name.slice(1, -1)).filter((name) => !pages.includes(`\`${name}\``))).toEqual([])
  })
})

describe('docs/glossary.md', () => {
  const rows = text('docs/glossary.md')
    .split('\n')
    .filter((line) => /^\| (?!Term |-)/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))

  it('explains each term in sentences, once', () => {
    expect(rows.length).toBeGreaterThan(60)
    expect(rows.filter(([, , meaning = '']) => !/^[A-Z].*\.$/.test(meaning))).toEqual([])
    const terms = rows.map(([, term]) => term)
    expect(new Set(terms).size).toBe(terms.length)
  })

  it('says where each is met, at places that there are', () => {
    const places = rows.flatMap(([, , , where = '']) => [...where.matchAll(/`([\w./-]+)`/g)])
    const paths = places.map(([, path = '']) => path).filter((path) => !/^[A-Z_]+$/.test(path))
    const missing = (path: string): boolean =>
      !['packages/server/src', 'packages'].some((folder) => existsSync(join(root, folder, path)))
    expect(paths.length).toBeGreaterThan(50)
    expect(paths.filter(missing)).toEqual([])
  })
})
