/** How Markdown becomes pages: links that leave `docs/`, and pictures. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { MarkdownOptions } from 'vitepress'
import { slug } from './slug.ts'

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0]
type Token = ReturnType<MarkdownIt['parse']>[number]

const docs = resolve(import.meta.dirname, '..')
const root = dirname(docs)
const { repository } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as {
  repository: { url: string }
}
const SOURCE = `${repository.url.replace(/^git\+/, '').replace(/\.git$/, '')}/blob/main`

/** @param page the file in which the link stands */
function address(link: string, page: string): string {
  if (/^(?:[a-z]+:|#)/i.test(link)) return link
  const [path = '', anchor] = link.split('#')
  const target = resolve(dirname(page), path)
  if (!existsSync(target)) throw new Error(`${relative(root, page)}: no ${path}`)
  const tail = anchor === undefined ? '' : `#${anchor}`
  if (relative(docs, target).startsWith('..')) return `${SOURCE}/${relative(root, target)}${tail}`
  return link.replace(/README\.md(?=#|$)/, 'index.md')
}

/** A picture is part of its page, so that it follows the page's colours and is read aloud with it. */
function picture(image: Token, page: string): string {
  const file = resolve(dirname(page), image.attrGet('src') ?? '')
  const svg = readFileSync(file, 'utf8').replaceAll(/<(\/?)style>/g, (_, end) =>
    end === '/' ? '</component>' : '<component is="style">',
  )
  return `<span class="picture" tabindex="0" role="group" aria-label="Picture">${svg}</span>`
}

/** Pages are called by their files in Markdown; readers of the site see titles. */
function titled(children: readonly Token[], at: number, page: string): void {
  const text = children[at + 1]
  const path = children[at]?.attrGet('href')?.split('#')[0] ?? ''
  if (text === undefined || !/^[\w-]+\.md$/.test(text.content) || !path.endsWith(text.content)) return
  const target = resolve(dirname(page), path)
  if (relative(docs, target).startsWith('..')) return
  text.content = /^# (.+)$/m.exec(readFileSync(target, 'utf8'))?.[1] ?? text.content
}

function siteRules(md: MarkdownIt): void {
  md.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
    // A rewritten page is known by its file, not by its address.
    const page = env.realPath ?? env.path
    for (const { children } of tokens) {
      for (const [at, token] of (children ?? []).entries()) {
        const link = token.attrGet('href')
        if (token.type !== 'link_open' || link === null || children === null) continue
        titled(children, at, page)
        token.attrSet('href', address(link, page))
      }
    }
  })
  const image = md.renderer.rules.image
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.attrGet('src')?.endsWith('.svg')) return picture(token, env.realPath ?? env.path)
    return image?.(tokens, index, options, env, self) ?? ''
  }
}

export const markdown: MarkdownOptions = {
  theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
  anchor: { slugify: slug },
  toc: { slugify: slug },
  headers: { slugify: slug },
  config: siteRules,
}
