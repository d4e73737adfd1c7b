// A file system that forgets what was not synced, for tests (FUSE). Names and contents live in memory twice: as programs see
// them, and as the disk has them. fsync of a file carries its content over, fsync of a directory its names; O_DSYNC does with
// each write what fsync does afterwards. Commands come as names of files that are looked up in the root:
//   .cut        the power fails: what programs see becomes what the disk has
//   .slow-<ms>  every write and sync takes so long; .slow-0 ends it
//   .fail-on    every write and sync is EIO; .fail-off ends it
// POSIX promises no more than that: a file whose directory was never synced is gone, whatever was synced in it.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct node;
struct entry {
  char *name;
  struct node *node;
  struct entry *next;
};
/** Version of a directory or of a file. */
struct content {
  struct entry *entries;
  char *bytes;
  size_t size, room;
};
struct node {
  struct node *next;
  int is_kept;
  int is_directory;
  mode_t mode;
  time_t changed;
  struct content seen, durable;
};

static struct node *root, *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int slow_ms, fails;

static struct node *new_node(int is_directory, mode_t mode) {
  struct node *node = calloc(1, sizeof *node);
  node->is_directory = is_directory;
  node->mode = mode;
  node->changed = time(NULL);
  node->next = all;
  all = node;
  return node;
}

static struct entry **find(struct node *directory, const char *name, size_t length) {
  struct entry **at = &directory->seen.entries;
  while (*at && (strlen((*at)->name) != length || strncmp((*at)->name, name, length))) at = &(*at)->next;
  return at;
}

/** The directory that holds the last name of `path`, and that name. */
static struct node *parent_of(const char *path, const char **name) {
  struct node *at = root;
  const char *from = path + 1;
  for (const char *slash; (slash = strchr(from, '/')); from = slash + 1) {
    struct entry *entry = *find(at, from, slash - from);
    if (!entry || !entry->node->is_directory) return NULL;
    at = entry->node;
  }
  *name = from;
  return at;
}

static struct node *node_at(const char *path) {
  if (!strcmp(path, "/")) return root;
  const char *name;
  struct node *parent = parent_of(path, &name);
  struct entry *entry = parent ? *find(parent, name, strlen(name)) : NULL;
  return entry ? entry->node : NULL;
}

static void add(struct node *parent, const char *name, struct node *node) {
  struct entry *entry = calloc(1, sizeof *entry);
  entry->name = strdup(name);
  entry->node = node;
  entry->next = parent->seen.entries;
  parent->seen.entries = entry;
}

static struct node *take(struct node *parent, const char *name) {
  struct entry **at = find(parent, name, strlen(name));
  struct entry *entry = *at;
  if (!entry) return NULL;
  struct node *node = entry->node;
  *at = entry->next;
  free(entry->name);
  free(entry);
  return node;
}

static void free_entries(struct entry *entry) {
  while (entry) {
    struct entry *next = entry->next;
    free(entry->name);
    free(entry);
    entry = next;
  }
}

static struct entry *copy_entries(const struct entry *from) {
  struct entry *copy = NULL, **end = &copy;
  for (; from; from = from->next) {
    *end = calloc(1, sizeof **end);
    (*end)->name = strdup(from->name);
    (*end)->node = from->node;
    end = &(*end)->next;
  }
  return copy;
}

static void copy_content(int is_directory, struct content *to, const struct content *from) {
  if (is_directory) {
    free_entries(to->entries);
    to->entries = copy_entries(from->entries);
    return;
  }
  if (to->room < from->size) {
    to->bytes = realloc(to->bytes, from->size);
    to->room = from->size;
  }
  if (from->size) memcpy(to->bytes, from->bytes, from->size);
  to->size = from->size;
}

static void sync_node(struct node *node) { copy_content(node->is_directory, &node->durable, &node->seen); }

/** What programs see of `node` and below it becomes what the disk has. Names decide what is left. */
static void lose(struct node *node) {
  node->is_kept = 1;
  copy_content(node->is_directory, &node->seen, &node->durable);
  if (node->is_directory)
    for (struct entry *entry = node->seen.entries; entry; entry = entry->next) lose(entry->node);
}

/** No program has a file open when the power fails: what has no name is gone. */
static void cut_power(void) {
  for (struct node *node = all; node; node = node->next) node->is_kept = 0;
  lose(root);
  for (struct node **at = &all; *at;) {
    struct node *node = *at;
    if (node->is_kept) {
      at = &node->next;
      continue;
    }
    *at = node->next;
    free_entries(node->seen.entries);
    free_entries(node->durable.entries);
    free(node->seen.bytes);
    free(node->durable.bytes);
    free(node);
  }
}

/** EIO while the disk fails; waits while it is slow. */
static int touch_disk(void) {
  if (slow_ms) usleep(slow_ms * 1000);
  return fails ? -EIO : 0;
}

static int resize(struct node *node, size_t size) {
  struct content *seen = &node->seen;
  if (size > seen->room) {
    size_t room = size > seen->room * 2 ? size : seen->room * 2;
    char *bytes = realloc(seen->bytes, room);
    if (!bytes) return -ENOSPC;
    seen->bytes = bytes;
    seen->room = room;
  }
  if (size > seen->size) memset(seen->bytes + seen->size, 0, size - seen->size);
  seen->size = size;
  node->changed = time(NULL);
  return 0;
}

static int command(const char *path) {
  if (!strcmp(path, "/.cut")) cut_power();
  else if (!strncmp(path, "/.slow-", 7)) slow_ms = atoi(path + 7);
  else if (!strcmp(path, "/.fail-on")) fails = 1;
  else if (!strcmp(path, "/.fail-off")) fails = 0;
  else return 0;
  return 1;
}

static int op_getattr(const char *path, struct stat *st, struct fuse_file_info *fi) {
  pthread_mutex_lock(&lock);
  struct node *node = fi && fi->fh ? (struct node *)fi->fh : node_at(path);
  int known = command(path);
  memset(st, 0, sizeof *st);
  if (node) {
    st->st_mode = (node->is_directory ? S_IFDIR : S_IFREG) | (node->mode & 07777);
    st->st_nlink = 1;
    st->st_size = node->seen.size;
    st->st_blocks = (node->seen.size + 511) / 512;
    st->st_uid = getuid();
    st->st_gid = getgid();
    st->st_mtime = st->st_ctime = st->st_atime = node->changed;
  }
  pthread_mutex_unlock(&lock);
  return node && !known ? 0 : -ENOENT;
}

static int op_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *fi,
                      enum fuse_readdir_flags flags) {
  (void)offset, (void)fi, (void)flags;
  pthread_mutex_lock(&lock);
  struct node *node = node_at(path);
  fill(buffer, ".", NULL, 0, 0);
  fill(buffer, "..", NULL, 0, 0);
  for (struct entry *entry = node ? node->seen.entries : NULL; entry; entry = entry->next)
    fill(buffer, entry->name, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return node ? 0 : -ENOENT;
}

static int make(const char *path, struct node *node) {
  const char *name;
  struct node *parent = parent_of(path, &name);
  if (!parent) return -ENOENT;
  if (*find(parent, name, strlen(name))) return -EEXIST;
  add(parent, name, node);
  return 0;
}

static int op_mkdir(const char *path, mode_t mode) {
  pthread_mutex_lock(&lock);
  int result = make(path, new_node(1, mode));
  pthread_mutex_unlock(&lock);
  return result;
}

static int op_create(const char *path, mode_t mode, struct fuse_file_info *fi) {
  pthread_mutex_lock(&lock);
  struct node *node = new_node(0, mode);
  int result = make(path, node);
  fi->fh = (uint64_t)node;
  pthread_mutex_unlock(&lock);
  return result;
}

static int op_open(const char *path, struct fuse_file_info *fi) {
  pthread_mutex_lock(&lock);
  struct node *node = node_at(path);
  if (node && (fi->flags & O_TRUNC)) resize(node, 0);
  fi->fh = (uint64_t)node;
  pthread_mutex_unlock(&lock);
  return node ? 0 : -ENOENT;
}

static int op_opendir(const char *path, struct fuse_file_info *fi) {
  pthread_mutex_lock(&lock);
  fi->fh = (uint64_t)node_at(path);
  pthread_mutex_unlock(&lock);
  return fi->fh ? 0 : -ENOENT;
}

static int op_read(const char *path, char *to, size_t size, off_t offset, struct fuse_file_info *fi) {
  (void)path;
  pthread_mutex_lock(&lock);
  struct content *seen = &((struct node *)fi->fh)->seen;
  size_t left = (size_t)offset < seen->size ? seen->size - offset : 0;
  if (size > left) size = left;
  if (size) memcpy(to, seen->bytes + offset, size);
  pthread_mutex_unlock(&lock);
  return size;
}

static int op_write(const char *path, const char *from, size_t size, off_t offset, struct fuse_file_info *fi) {
  (void)path;
  int result = touch_disk();
  if (result) return result;
  pthread_mutex_lock(&lock);
  struct node *node = (struct node *)fi->fh;
  if (offset + size > node->seen.size) result = resize(node, offset + size);
  if (!result) {
    memcpy(node->seen.bytes + offset, from, size);
    if (fi->flags & O_DSYNC) {
      // What is written through is on the disk, and no more of the file.
      struct content *durable = &node->durable;
      if (offset + size > durable->size) {
        if (offset + size > durable->room) {
          durable->room = (offset + size) * 2;
          durable->bytes = realloc(durable->bytes, durable->room);
        }
        memset(durable->bytes + durable->size, 0, offset + size - durable->size);
        durable->size = offset + size;
      }
      memcpy(durable->bytes + offset, from, size);
    }
  }
  pthread_mutex_unlock(&lock);
  return result ? result : (int)size;
}

static int op_truncate(const char *path, off_t size, struct fuse_file_info *fi) {
  pthread_mutex_lock(&lock);
  struct node *node = fi && fi->fh ? (struct node *)fi->fh : node_at(path);
  int result = node ? resize(node, size) : -ENOENT;
  pthread_mutex_unlock(&lock);
  return result;
}

static int op_unlink(const char *path) {
  const char *name;
  pthread_mutex_lock(&lock);
  struct node *parent = parent_of(path, &name);
  struct node *gone = parent ? take(parent, name) : NULL;
  pthread_mutex_unlock(&lock);
  return gone ? 0 : -ENOENT;
}

static int op_rmdir(const char *path) {
  pthread_mutex_lock(&lock);
  struct node *node = node_at(path);
  int is_full = node && node->seen.entries;
  pthread_mutex_unlock(&lock);
  return is_full ? -ENOTEMPTY : op_unlink(path);
}

static int op_rename(const char *from, const char *to, unsigned flags) {
  const char *old_name, *new_name;
  if (flags) return -EINVAL;
  pthread_mutex_lock(&lock);
  struct node *source = parent_of(from, &old_name), *target = parent_of(to, &new_name);
  struct node *node = source && target ? take(source, old_name) : NULL;
  if (node) {
    take(target, new_name);
    add(target, new_name, node);
  }
  pthread_mutex_unlock(&lock);
  return node ? 0 : -ENOENT;
}

static int op_fsync(const char *path, int data_only, struct fuse_file_info *fi) {
  (void)path, (void)data_only;
  int result = touch_disk();
  if (result) return result;
  pthread_mutex_lock(&lock);
  sync_node((struct node *)fi->fh);
  pthread_mutex_unlock(&lock);
  return 0;
}

static int op_chmod(const char *path, mode_t mode, struct fuse_file_info *fi) {
  (void)fi;
  pthread_mutex_lock(&lock);
  struct node *node = node_at(path);
  if (node) node->mode = mode;
  pthread_mutex_unlock(&lock);
  return node ? 0 : -ENOENT;
}

static int op_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *fi) {
  (void)path, (void)times, (void)fi;
  return 0;
}

static int op_statfs(const char *path, struct statvfs *st) {
  (void)path;
  memset(st, 0, sizeof *st);
  st->f_bsize = st->f_frsize = 4096;
  st->f_blocks = st->f_bfree = st->f_bavail = 1 << 20;
  return 0;
}

static void *op_init(struct fuse_conn_info *connection, struct fuse_config *config) {
  (void)connection;
  config->kernel_cache = 0;
  config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
  config->hard_remove = 1;
  return NULL;
}

static const struct fuse_operations operations = {
    .init = op_init,
    .getattr = op_getattr,
    .readdir = op_readdir,
    .mkdir = op_mkdir,
    .create = op_create,
    .open = op_open,
    .opendir = op_opendir,
    .read = op_read,
    .write = op_write,
    .truncate = op_truncate,
    .unlink = op_unlink,
    .rmdir = op_rmdir,
    .rename = op_rename,
    .fsync = op_fsync,
    .fsyncdir = op_fsync,
    .chmod = op_chmod,
    .utimens = op_utimens,
    .statfs = op_statfs,
};

int main(int count, char *arguments[]) {
  root = new_node(1, 0755);
  return fuse_main(count, arguments, &operations, NULL);
}
