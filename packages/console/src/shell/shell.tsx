/** The frame of the operators' pages: the menu, and the page. */
import { ActionIcon, Drawer } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconMenu2 } from '@tabler/icons-react'
import { Suspense, useEffect } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import { NAVIGATION, type NavigationRow } from '../navigation.ts'
import { Boundary } from '../parts/boundary.tsx'
import { Skeleton } from '../parts/states.tsx'
import { useMay, useSession } from '../session/session.ts'
import { COMMON } from '../texts/common.ts'
import { SHELL } from '../texts/shell.ts'
import { SignedInOperator } from './account.tsx'
import { Brand } from './brand.tsx'
import { Menu } from './menu.tsx'
import { NotFound } from './not-found.tsx'
import styles from './shell.module.css'
import { Shortcuts } from './shortcuts.tsx'

const MAIN_ID = 'main'

export function Shell() {
  const session = useSession()
  const may = useMay()
  const rows = NAVIGATION.filter(({ role }) => may(role))
  const [path] = useLocation()
  const [menuOpened, menu] = useDisclosure(false)
  const [helpOpened, help] = useDisclosure(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page begins at its top, and whoever has chosen it has no use for the menu
  useEffect(() => {
    menu.close()
    scrollTo(0, 0)
  }, [path])
  const content = (
    <>
      <Menu rows={rows} path={path} />
      <SignedInOperator onHelp={help.open} />
    </>
  )
  return (
    <>
      <button type="button" className={styles.skip} onClick={() => document.getElementById(MAIN_ID)?.focus()}>
        {SHELL.skip}
      </button>
      <div className={styles.shell}>
        <aside className={styles.side} aria-label={SHELL.menu}>
          <Brand demo={session.demo} />
          {content}
        </aside>
        <aside className={styles.top} aria-label={SHELL.menu}>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={SHELL.openMenu} onClick={menu.open}>
            <IconMenu2 size={20} aria-hidden />
          </ActionIcon>
          <Brand demo={session.demo} />
        </aside>
        <main id={MAIN_ID} tabIndex={-1} className={styles.main}>
          <Boundary key={path}>
            <Suspense fallback={<Skeleton lines={6} />}>
              <Pages rows={rows} />
            </Suspense>
          </Boundary>
        </main>
      </div>
      <Drawer
        opened={menuOpened}
        onClose={menu.close}
        size="17rem"
        title={SHELL.menu}
        closeButtonProps={{ 'aria-label': COMMON.close }}
        classNames={{ body: styles.drawer ?? '' }}
      >
        {content}
      </Drawer>
      <Shortcuts rows={rows} opened={helpOpened} onOpen={help.open} onClose={help.close} />
    </>
  )
}

function Pages({ rows }: { readonly rows: readonly NavigationRow[] }) {
  return (
    <Switch>
      {rows.map(({ path, page: Page }) => (
        <Route key={path} path={path}>
          <Page />
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}
