/** The documents as a site: `npm run docs`. A page is a row in pages.ts; a dead link fails the build. */
import { defineConfig } from 'vitepress'
import { markdown } from './markdown.ts'
import { GROUPS } from './pages.ts'
import { withPolicy } from './policy.ts'

export default defineConfig({
  lang: 'en',
  title: 'Rollcall',
  description: 'A registry interoperability server',
  // The icon is in the page: no file and no host is asked for one.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  rewrites: { 'decisions/README.md': 'decisions/index.md', 'kinds/README.md': 'kinds/index.md' },
  metaChunk: true,
  markdown,
  transformHtml: (html) => withPolicy(html),
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Integrate', link: '/tutorial-integrator' },
      { text: 'Operate', link: '/tutorial-operator' },
      { text: 'Develop', link: '/tutorial-developer' },
      { text: 'Data protection', link: '/privacy' },
    ],
    sidebar: GROUPS.map(({ text, pages }) => ({ text, items: pages.map(([page, name]) => ({ text: name, link: `/${page}` })) })),
    outline: { level: [2, 3], label: 'On this page' },
    docFooter: { prev: 'Previous page', next: 'Next page' },
    externalLinkIcon: false,
  },
})
