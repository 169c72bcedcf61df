/** THE table of pages: a row for each. The menu, the routes and the keyboard shortcuts are made of it. */

import type { OperatorRole } from '@rollcall/core/model/operator'
import {
  type Icon,
  IconBell,
  IconCalendarEvent,
  IconDatabase,
  IconEyeSearch,
  IconFlask,
  IconGauge,
  IconHelp,
  IconMailbox,
  IconMessages,
  IconSend,
  IconSettings,
  IconUserCheck,
  IconUsers,
} from '@tabler/icons-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { PageNotLoaded } from './parts/boundary.tsx'
import { PAGES } from './texts/pages.ts'
import type { SHELL } from './texts/shell.ts'

export interface NavigationRow {
  /** The address of the page, behind the `#`. */
  readonly path: string
  readonly title: string
  /** The role that an operator needs to open the page. */
  readonly role: OperatorRole
  /** Each page is a file of its own, loaded when it is first opened. */
  readonly page: LazyExoticComponent<ComponentType>
  /** The entry in the menu; null for a page to which only other pages link. */
  readonly menu: {
    readonly group: keyof typeof SHELL.groups
    readonly icon: Icon
    /** The key that opens the page when it is pressed after `g`. */
    readonly key: string
  } | null
}

type LoadPage = () => Promise<{ readonly Page: ComponentType }>

const lazyPage = (load: LoadPage) =>
  lazy(async () => {
    const { Page } = await load().catch(() => {
      throw new PageNotLoaded()
    })
    return { default: Page }
  })

/** A page for every operator that is not in the menu: only other pages link to it. */
const linkedPage = (path: string, title: string, load: LoadPage): NavigationRow => ({
  path,
  title,
  role: 'read',
  page: lazyPage(load),
  menu: null,
})

export const NAVIGATION: readonly NavigationRow[] = [
  {
    path: '/',
    title: PAGES.overview,
    role: 'read',
    page: lazyPage(() => import('./pages/overview/page.tsx')),
    menu: { group: 'traffic', icon: IconGauge, key: 'o' },
  },
  {
    path: '/messages',
    title: PAGES.messages,
    role: 'read',
    page: lazyPage(() => import('./pages/messages/page.tsx')),
    menu: { group: 'traffic', icon: IconMessages, key: 'm' },
  },
  linkedPage('/messages/:message_id', PAGES.message, () => import('./pages/message/page.tsx')),
  {
    path: '/deliveries',
    title: PAGES.deliveries,
    role: 'read',
    page: lazyPage(() => import('./pages/deliveries/page.tsx')),
    menu: { group: 'traffic', icon: IconSend, key: 'd' },
  },
  linkedPage('/deliveries/:id', PAGES.delivery, () => import('./pages/delivery/page.tsx')),
  {
    path: '/mailboxes',
    title: PAGES.mailboxes,
    role: 'read',
    page: lazyPage(() => import('./pages/mailboxes/page.tsx')),
    menu: { group: 'traffic', icon: IconMailbox, key: 'n' },
  },
  {
    path: '/participants',
    title: PAGES.participants,
    role: 'read',
    page: lazyPage(() => import('./pages/participants/page.tsx')),
    menu: { group: 'partners', icon: IconUsers, key: 'p' },
  },
  linkedPage('/participants/:sender_id', PAGES.participant, () => import('./pages/participant/page.tsx')),
  linkedPage('/participants/:sender_id/grants/:namespace', PAGES.grant, () => import('./pages/grant/page.tsx')),
  {
    path: '/registries',
    title: PAGES.registries,
    role: 'read',
    page: lazyPage(() => import('./pages/registries/page.tsx')),
    menu: { group: 'partners', icon: IconDatabase, key: 'r' },
  },
  linkedPage('/registries/:namespace', PAGES.registry, () => import('./pages/registry/page.tsx')),
  {
    path: '/subscriptions',
    title: PAGES.subscriptions,
    role: 'read',
    page: lazyPage(() => import('./pages/subscriptions/page.tsx')),
    menu: { group: 'partners', icon: IconBell, key: 's' },
  },
  linkedPage('/subscriptions/:code', PAGES.subscription, () => import('./pages/subscription/page.tsx')),
  {
    path: '/events',
    title: PAGES.events,
    role: 'read',
    page: lazyPage(() => import('./pages/events/page.tsx')),
    menu: { group: 'partners', icon: IconCalendarEvent, key: 'e' },
  },
  {
    path: '/accounts',
    title: PAGES.auditLog,
    role: 'read',
    page: lazyPage(() => import('./pages/audit-log/page.tsx')),
    menu: { group: 'oversight', icon: IconEyeSearch, key: 'w' },
  },
  {
    path: '/try',
    title: PAGES.try,
    role: 'operate',
    page: lazyPage(() => import('./pages/try/page.tsx')),
    menu: { group: 'tools', icon: IconFlask, key: 't' },
  },
  {
    path: '/settings',
    title: PAGES.settings,
    role: 'read',
    page: lazyPage(() => import('./pages/settings/page.tsx')),
    menu: { group: 'tools', icon: IconSettings, key: 'c' },
  },
  {
    path: '/help',
    title: PAGES.help,
    role: 'read',
    page: lazyPage(() => import('./pages/help/page.tsx')),
    menu: { group: 'tools', icon: IconHelp, key: 'h' },
  },
  linkedPage('/help/:name/:anchor?', PAGES.help, () => import('./pages/help/page.tsx')),
  {
    path: '/approvals',
    title: PAGES.approvals,
    role: 'read',
    page: lazyPage(() => import('./pages/approvals/page.tsx')),
    menu: { group: 'oversight', icon: IconUserCheck, key: 'a' },
  },
  linkedPage('/approvals/:id', PAGES.approval, () => import('./pages/approval/page.tsx')),
]
