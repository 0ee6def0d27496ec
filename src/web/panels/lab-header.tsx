// The header of a lab's screen: the page header with the lab's name, connection and tools.
import type { ComponentChildren } from 'preact';
import type { Lab } from '../model/lab/lab.ts';
import { PageHeader } from './page-header.tsx';

interface LabHeaderProps {
  lab: Lab;
  children?: ComponentChildren;
}

export function LabHeader({ lab, children }: LabHeaderProps) {
  return (
    <PageHeader title={lab.project.value?.name ?? ''} {...(lab.state.value !== 'deleted' && { events: lab.events })}>
      {children}
    </PageHeader>
  );
}
