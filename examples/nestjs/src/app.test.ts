import { describeExample } from '../../describe-example.ts';
import { start } from './start.ts';

describeExample('nestjs', start);
