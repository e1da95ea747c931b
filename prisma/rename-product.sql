-- Template of the migration that gives the tables another product's name; prisma/rename-product.ts fills it in.
-- It renames all that carries the name: tables, view, indexes, sequence, constraints, functions, enums and their values. Rows stay.
DO $$
DECLARE
    old CONSTANT text := 'Quvera';
    new CONSTANT text := 'Newname';
    item record;
BEGIN
    FOR item IN SELECT conrelid::regclass AS owner, conname AS name FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace AND contype IN ('c', 'f', 'n') AND starts_with(conname, old || '_')
    LOOP EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', item.owner, item.name, replace(item.name, old, new)); END LOOP;
    FOR item IN SELECT relname AS name, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'i' THEN 'INDEX' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
        FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v', 'i', 'S') AND starts_with(relname, old || '_')
    LOOP EXECUTE format('ALTER %s %I RENAME TO %I', item.kind, item.name, replace(item.name, old, new)); END LOOP;
    FOR item IN SELECT typname AS name FROM pg_type
        WHERE typnamespace = current_schema()::regnamespace AND typtype = 'e' AND starts_with(typname, old || '_')
    LOOP EXECUTE format('ALTER TYPE %I RENAME TO %I', item.name, replace(item.name, old, new)); END LOOP;
    FOR item IN SELECT oid::regprocedure AS signature, proname AS name FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace AND starts_with(proname, old || '_')
    LOOP EXECUTE format('ALTER ROUTINE %s RENAME TO %I', item.signature, replace(item.name, old, new)); END LOOP;
    FOR item IN SELECT enumtypid::regtype AS type, enumlabel AS label FROM pg_enum WHERE starts_with(enumlabel, old || ' ')
    LOOP EXECUTE format('ALTER TYPE %s RENAME VALUE %L TO %L', item.type, item.label, replace(item.label, old, new)); END LOOP;
END $$;
