-- The tables of a data folder (see simulator/persistence/schema.py), and the ownership of sandboxes.

CREATE TABLE lives (
    id BIGINT PRIMARY KEY, sandbox TEXT NOT NULL UNIQUE, floor BIGINT NOT NULL, floor_bytes BIGINT NOT NULL,
    crc BIGINT NOT NULL, head BYTEA NOT NULL
);
CREATE TABLE entries (
    id BIGINT PRIMARY KEY, at_us BIGINT NOT NULL, bytes_up_to BIGINT NOT NULL, crc BIGINT NOT NULL, data BYTEA NOT NULL
);
CREATE TABLE marks (
    life BIGINT NOT NULL, name TEXT NOT NULL, n BIGINT NOT NULL, crc BIGINT NOT NULL, note BYTEA NOT NULL,
    PRIMARY KEY (life, name)
);
CREATE TABLE snapshots (
    id BIGINT PRIMARY KEY, life BIGINT NOT NULL, n BIGINT NOT NULL, bytes_up_to BIGINT NOT NULL, size BIGINT NOT NULL,
    parts BIGINT NOT NULL, crc BIGINT NOT NULL
);
CREATE INDEX ON snapshots (life);
CREATE TABLE parts (id BIGINT PRIMARY KEY, name TEXT NOT NULL, crc BIGINT NOT NULL, data BYTEA NOT NULL);
CREATE SEQUENCE life_keys;
CREATE SEQUENCE snapshot_keys;

-- A row that is not due has the unfinished work of a server; it is due when that server is fenced.
CREATE TABLE garbage (
    kind TEXT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, is_due BOOLEAN NOT NULL,
    server BIGINT NOT NULL DEFAULT current_setting('reseller_sim.server')::BIGINT,
    PRIMARY KEY (kind, first)
);

-- `id` is the fencing number, and `commits` the number of the last commit of this server.
CREATE TABLE servers (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, url TEXT NOT NULL, secret TEXT NOT NULL,
    lease INTERVAL NOT NULL, lease_ends TIMESTAMPTZ NOT NULL, is_fenced BOOLEAN NOT NULL DEFAULT FALSE,
    commits BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE owners (sandbox TEXT PRIMARY KEY, server BIGINT NOT NULL);
CREATE INDEX ON owners (server);

-- Begins commit number `serial` of a server, and keeps others from fencing the server until the transaction ends.
CREATE FUNCTION begin_commit(server_id BIGINT, serial BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    UPDATE servers SET commits = serial WHERE id = server_id AND NOT is_fenced AND commits = serial - 1;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM servers WHERE id = server_id AND NOT is_fenced AND commits = serial) THEN
            RAISE EXCEPTION 'commit % was made already', serial USING ERRCODE = 'RS002';
        END IF;
        RAISE EXCEPTION 'the lease of server % is lost', server_id USING ERRCODE = 'RS001';
    END IF;
END $$;

-- Fences a server whose lease has ended, unless PostgreSQL itself began only now. Returns whether it is fenced.
CREATE FUNCTION fence(server_id BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    UPDATE servers SET is_fenced = TRUE WHERE id = server_id AND NOT is_fenced
        AND greatest(lease_ends, pg_postmaster_start_time() + lease) < clock_timestamp();
    RETURN NOT EXISTS (SELECT FROM servers WHERE id = server_id AND NOT is_fenced);
END $$;

-- Returns the owner of a sandbox: `server_id` if it was without a living owner. Returns NULL for a sandbox that does
-- not exist, unless `creates` reserves its name.
CREATE FUNCTION claim(name TEXT, server_id BIGINT, creates BOOLEAN) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    found_owner BIGINT;
BEGIN
    IF NOT EXISTS (SELECT FROM servers WHERE id = server_id AND NOT is_fenced) THEN
        RAISE EXCEPTION 'the lease of server % is lost', server_id USING ERRCODE = 'RS001';
    END IF;
    IF creates OR EXISTS (SELECT FROM lives WHERE sandbox = name) THEN
        INSERT INTO owners VALUES (name, server_id) ON CONFLICT DO NOTHING;
    END IF;
    SELECT server INTO found_owner FROM owners WHERE sandbox = name FOR UPDATE;
    IF found_owner <> server_id AND fence(found_owner) THEN
        UPDATE owners SET server = server_id WHERE sandbox = name;
        RETURN server_id;
    END IF;
    RETURN found_owner;
END $$;

-- Keeps a server from creating a sandbox under a name that it has lost with an earlier lease.
CREATE FUNCTION check_owner() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM owners WHERE sandbox = NEW.sandbox AND server = current_setting('reseller_sim.server')::BIGINT
    ) THEN
        RAISE EXCEPTION 'the sandbox % has another owner', NEW.sandbox USING ERRCODE = 'RS001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER check_owner BEFORE INSERT ON lives FOR EACH ROW EXECUTE FUNCTION check_owner();
