/** The frame of all pages, of operators and participants: theme, cached answers, addresses. */
import { MantineProvider } from '@mantine/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Router } from 'wouter'
import { Boundary } from '../parts/boundary.tsx'
import { Notices } from '../parts/notices.tsx'
import { styleNonce } from '../theme/nonce.ts'
import { CSS_VARIABLES, THEME } from '../theme/theme.ts'
import { hashHref, useHashPath, useHashSearch } from './hash-location.ts'

interface AppFrameProps {
  readonly queries: QueryClient
  readonly children: ReactNode
}

export function AppFrame({ queries, children }: AppFrameProps) {
  return (
    <MantineProvider
      theme={THEME}
      cssVariablesResolver={CSS_VARIABLES}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queries}>
        <Router hook={useHashPath} searchHook={useHashSearch} hrefs={hashHref}>
          <Boundary>
            <Notices>{children}</Notices>
          </Boundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  )
}
