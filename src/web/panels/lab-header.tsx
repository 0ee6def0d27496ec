// The head of a lab's screen: the head of the page with the lab's name, its connection, and what else belongs there.
import type { ComponentChildren } from 'preact';
import type { Lab } from '../model/lab/lab.ts';
import { PageHeader } from './page-header.tsx';

interface LabHeaderProps {
  lab: Lab;
  children?: ComponentChildren;
}

export function LabHeader({ lab, children }: LabHeaderProps) {
  return (
    <PageHeader title={lab.project.value?.name ?? ''} events={lab.events}>
      {children}
    </PageHeader>
  );
}
